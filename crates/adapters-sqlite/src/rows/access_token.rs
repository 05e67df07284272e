//! Rows that say what an access token means.

use countersign_domain::id::TokenId;
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_sql::SqlError;
use countersign_sql::columns::{Row, StoredId, StoredTime};
use countersign_sql::rows::grant::holder;
use countersign_sql::schema::{grants, tokens};
use diesel::prelude::*;
use uuid::Uuid;

/// What a token's row says about its access token.
#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens)]
pub(crate) struct AccessRow {
    grant_id: StoredId,
    scope: String,
    issued_at: StoredTime,
    access_hash: Vec<u8>,
    access_expires_at: StoredTime,
}

/// What a grant says about who holds its access tokens.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants)]
pub(crate) struct HolderRow {
    client_id: StoredId,
    user_id: StoredId,
    family: String,
    chain: String,
    address: String,
}

/// When the token was revoked, and when the grant was.
pub(crate) type RevokedRow = (Option<StoredTime>, Option<StoredTime>);

/// Puts together what the rows say about an access token.
pub(crate) fn access_snapshot(
    id: TokenId,
    access: AccessRow,
    row: HolderRow,
    (token_revoked_at, grant_revoked_at): RevokedRow,
) -> Result<AccessSnapshot, SqlError> {
    let at = Row { table: "tokens", key: &id };
    let client = at.id("client_id", &row.client_id)?;
    let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
    Ok(AccessSnapshot {
        id,
        access_hash: at.hash("access_hash", &access.access_hash)?,
        scope: at.scope("scope", &access.scope)?,
        issued_at: at.time("issued_at", access.issued_at)?,
        expires_at: at.time("access_expires_at", access.access_expires_at)?,
        token_revoked: token_revoked_at.is_some(),
        grant_revoked: grant_revoked_at.is_some(),
        grant: at.id("grant_id", &access.grant_id)?,
        client,
        holder: holder(client, at.id("user_id", &row.user_id)?, account),
    })
}

/// The key of a live access token's row: the first 64 bits of its id, without the digit that says the
/// version.
pub(crate) fn place(id: Uuid) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *id.as_bytes();
    i64::from_be_bytes([0, 0, a, b, c, d, e, f]) << 12 | i64::from(u16::from_be_bytes([g, h]) & 0xfff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_time_and_the_chance_of_an_id() {
        let id = Uuid::parse_str("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        assert_eq!(place(id), 0x0189_0a5d_ac96 << 12 | 0x74b);
        assert_eq!(place(Uuid::max()), 0x0fff_ffff_ffff_ffff);
        assert_eq!(place(Uuid::nil()), 0);
    }
}
