//! Look-ups of grants and tokens. Each is one statement and so sees one state of the database.
//!
//! A look-up of one key uses `get_result`, not diesel's `first`. That adds `LIMIT ?`, and SQLite plans a
//! statement again whenever such a limit is bound, even if the statement is prepared.

use countersign_domain::grant::Grant;
use countersign_domain::id::{GrantId, TokenId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::KnownAccess;
use countersign_sql::columns::{BigInt, Binary, Bool, Id, Key, Moment, Text};
use countersign_sql::rows::access_token::{AccessRow, HolderRow, RevokedRow, access_snapshot};
use countersign_sql::rows::grant::GrantRow;
use countersign_sql::rows::token::{NewestRow, TokenRow, newest_token};
use countersign_sql::schema::{grants, tokens};
use diesel::prelude::*;

use super::place::place;
use crate::error::SqliteError;
use crate::statement::statement;

pub(crate) fn find_grant(
    connection: &mut SqliteConnection,
    id: GrantId,
) -> Result<Option<Grant>, SqliteError> {
    let id = Id::from(id);
    let row = grants::table.find(id).select(GrantRow::as_select()).get_result(connection).optional()?;
    Ok(row.map(Grant::try_from).transpose()?)
}

/// The token, its grant, and the family's newest token; nothing if one of them was purged.
pub(crate) fn find_refresh(
    connection: &mut SqliteConnection,
    id: TokenId,
) -> Result<Option<RefreshSnapshot>, SqliteError> {
    let id = Id::from(id);
    let newest = diesel::alias!(tokens as newest);
    let row: Option<(TokenRow, GrantRow, NewestRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .inner_join(newest.on(newest.field(tokens::id).nullable().eq(grants::newest_token)))
        .filter(tokens::id.eq(id))
        .select((
            TokenRow::as_select(),
            GrantRow::as_select(),
            newest.fields((tokens::id, tokens::parent_id, tokens::issued_at)),
        ))
        .get_result(connection)
        .optional()?;
    let Some((token, grant, newest)) = row else { return Ok(None) };
    Ok(Some(RefreshSnapshot {
        token: token.try_into()?,
        grant: grant.try_into()?,
        newest: newest_token(newest)?,
    }))
}

/// The token and what its grant says; nothing if the grant was deleted. Most tokens that clients present are
/// live and are found in one row. For the others the reason is read from the tables that have it.
pub(crate) fn find_access(
    connection: &mut SqliteConnection,
    id: TokenId,
) -> Result<Option<AccessSnapshot>, SqliteError> {
    let key = Id::from(id);
    let living = FindLiving { place: place(key.0), id: key };
    if let Some((access, holder)) = living.get_result(connection).optional()? {
        return Ok(Some(access_snapshot(id, access, holder, (None, None))?));
    }
    let row: Option<(AccessRow, HolderRow, RevokedRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .filter(tokens::id.eq(key))
        .select((
            AccessRow::as_select(),
            HolderRow::as_select(),
            (tokens::access_revoked_at, grants::revoked_at),
        ))
        .get_result(connection)
        .optional()?;
    Ok(row.map(|(access, holder, revoked)| access_snapshot(id, access, holder, revoked)).transpose()?)
}

/// Is an access token that was found before still live? What was revoked is in indexes of its own, which are
/// small.
pub(crate) fn lives_on(connection: &mut SqliteConnection, access: KnownAccess) -> Result<bool, SqliteError> {
    let lives_on =
        LivingOn { client: access.client.into(), grant: access.grant.into(), token: access.id.into() };
    Ok(lives_on.get_result(connection)?)
}

statement! {
    /// A live access token and who holds it. Whether its grant was revoked is read from the index of revoked
    /// grants, because reading `grants` itself would cost as much as the row that this statement saves.
    FindLiving {
        place: i64 as BigInt,
        id: Id as Key,
    } -> ((Key, Text, Moment, Binary, Moment), (Key, Key, Text, Text, Text)) = "\
        SELECT grant_id, scope, issued_at, access_hash, expires_at, client_id, user_id, family, chain, address FROM access_tokens a \
        WHERE place = :place AND id = :id AND EXISTS (SELECT 1 FROM clients WHERE clients.id = a.client_id) \
        AND NOT EXISTS (SELECT 1 FROM grants INDEXED BY grants_ended \
        WHERE grants.id = a.grant_id AND grants.revoked_at IS NOT NULL)"
}

statement! {
    LivingOn {
        client: Id as Key,
        grant: Id as Key,
        token: Id as Key,
    } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM clients WHERE id = :client) \
        AND NOT EXISTS (SELECT 1 FROM grants INDEXED BY grants_ended WHERE id = :grant AND revoked_at IS NOT NULL) \
        AND NOT EXISTS (SELECT 1 FROM tokens INDEXED BY tokens_ended WHERE id = :token AND access_revoked_at IS NOT NULL)"
}
