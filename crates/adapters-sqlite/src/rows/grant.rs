//! Grants.

use countersign_domain::grant::{Grant, Holder};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;
use uuid::Uuid;

use super::field::Row;
use crate::error::SqliteError;
use crate::schema::grants;

/// A grant, as far as the domain judges it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct GrantRow {
    id: Vec<u8>,
    client_id: Vec<u8>,
    user_id: Vec<u8>,
    family: String,
    chain: String,
    address: String,
    redirect_uri: String,
    scope: String,
    nonce: Option<String>,
    code_challenge: Option<Vec<u8>>,
    code_hash: Vec<u8>,
    authenticated_at: i64,
    code_expires_at: i64,
    redeemed_at: Option<i64>,
    revoked_at: Option<i64>,
    particulars: Option<String>,
    session_id: Option<Vec<u8>>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = SqliteError;

    fn try_from(row: GrantRow) -> Result<Self, SqliteError> {
        let at = Row { table: "grants", key: &row.id };
        let code_challenge = match &row.code_challenge {
            Some(bytes) => Some(CodeChallenge::from_bytes(at.bytes("code_challenge", bytes)?)),
            None => None,
        };
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        let particulars =
            Particulars::parse(row.particulars.as_deref()).ok_or_else(|| at.impossible("particulars"))?;
        Ok(Self {
            id: at.id("id", &row.id)?,
            client: at.id("client_id", &row.client_id)?,
            holder: holder(at.id("client_id", &row.client_id)?, at.id("user_id", &row.user_id)?, account),
            redirect_uri: (!row.redirect_uri.is_empty()).then(|| RedirectUri::from_trusted(row.redirect_uri)),
            scope: at.scope("scope", &row.scope)?,
            nonce: row.nonce,
            code_challenge,
            particulars,
            session: at.optional_id("session_id", row.session_id.as_deref())?,
            code_hash: at.hash("code_hash", &row.code_hash)?,
            authenticated_at: at.time("authenticated_at", row.authenticated_at)?,
            code_expires_at: at.time("code_expires_at", row.code_expires_at)?,
            redeemed: row.redeemed_at.is_some(),
            revoked: row.revoked_at.is_some(),
        })
    }
}

/// What stands for a wallet's family in a grant that a client got for itself. No family is called so.
const OF_CLIENT: &str = "client";

/// Who holds the grant of this row. Where a client got it for itself, the user is the client's own id.
pub(super) fn holder(client: ClientId, user: UserId, account: WalletAccount) -> Holder {
    if user.as_uuid() == client.as_uuid() { Holder::Client } else { Holder::Person { user, account } }
}

/// The user and the wallet that stand in the row of a grant: where its client holds it, the client for both.
pub(crate) fn user_and_wallet(grant: &Grant) -> (Uuid, WalletAccount) {
    match &grant.holder {
        Holder::Person { user, account } => (user.as_uuid(), account.clone()),
        Holder::Client => {
            let (family, address) = (OF_CLIENT.to_owned(), grant.client.to_string());
            (grant.client.as_uuid(), WalletAccount { family, chain: String::new(), address })
        }
    }
}

/// The redirect URI as the row has it: empty where no browser was sent anywhere.
pub(crate) fn redirect_uri(redirect_uri: Option<&RedirectUri>) -> &str {
    redirect_uri.map_or("", RedirectUri::as_str)
}
