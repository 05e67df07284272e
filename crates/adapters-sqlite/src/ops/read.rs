//! Look-ups, except those in [`read_account`](super::read_account). Each is one statement and so sees one
//! state of the database.
//!
//! A look-up of one key uses `get_result`, not diesel's `first`. That adds `LIMIT ?`, and SQLite plans a
//! statement again whenever such a limit is bound, even if the statement is prepared.

use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, GrantId, TokenId, UserId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{KnownAccess, LinkedWallet};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Text};

use super::wallets::owner_of;
use crate::error::SqliteError;
use crate::rows::access_token::{AccessRow, HolderRow, RevokedRow, access_snapshot, place};
use crate::rows::client::ClientRow;
use crate::rows::field::Row;
use crate::rows::grant::GrantRow;
use crate::rows::token::{NewestRow, TokenRow, newest_token};
use crate::rows::wallet::WalletRow;
use crate::schema::{clients, grants, tokens, wallets};
use crate::statement::statement;

pub(crate) fn find_client(
    connection: &mut SqliteConnection,
    id: ClientId,
) -> Result<Option<Client>, SqliteError> {
    let id = id.as_uuid();
    let row = clients::table
        .find(id.as_bytes().as_slice())
        .select(ClientRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(Client::try_from).transpose()
}

pub(crate) fn list_clients(
    connection: &mut SqliteConnection,
    after: Option<ClientId>,
    limit: u32,
) -> Result<Vec<Client>, SqliteError> {
    // Every id sorts after the empty one.
    let after = after.map(|id| id.as_uuid().as_bytes().to_vec()).unwrap_or_default();
    let rows = clients::table
        .filter(clients::id.gt(after))
        .order(clients::id)
        .limit(i64::from(limit))
        .select(ClientRow::as_select())
        .load(connection)?;
    rows.into_iter().map(Client::try_from).collect()
}

pub(crate) fn find_grant(
    connection: &mut SqliteConnection,
    id: GrantId,
) -> Result<Option<Grant>, SqliteError> {
    let id = id.as_uuid();
    let row = grants::table
        .find(id.as_bytes().as_slice())
        .select(GrantRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(Grant::try_from).transpose()
}

/// The token, its grant, and the family's newest token; nothing if one of them was purged.
pub(crate) fn find_refresh(
    connection: &mut SqliteConnection,
    id: TokenId,
) -> Result<Option<RefreshSnapshot>, SqliteError> {
    let id = id.as_uuid();
    let newest = diesel::alias!(tokens as newest);
    let row: Option<(TokenRow, GrantRow, NewestRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .inner_join(newest.on(newest.field(tokens::id).nullable().eq(grants::newest_token)))
        .filter(tokens::id.eq(id.as_bytes().as_slice()))
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
    let uuid = id.as_uuid();
    let living = FindLiving { place: place(uuid), id: uuid.as_bytes() };
    if let Some((access, holder)) = living.get_result(connection).optional()? {
        return access_snapshot(id, access, holder, (None, None)).map(Some);
    }
    let row: Option<(AccessRow, HolderRow, RevokedRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .filter(tokens::id.eq(uuid.as_bytes().as_slice()))
        .select((
            AccessRow::as_select(),
            HolderRow::as_select(),
            (tokens::access_revoked_at, grants::revoked_at),
        ))
        .get_result(connection)
        .optional()?;
    row.map(|(access, holder, revoked)| access_snapshot(id, access, holder, revoked)).transpose()
}

/// Is an access token that was found before still live? What was revoked is in indexes of its own, which are
/// small.
pub(crate) fn lives_on(connection: &mut SqliteConnection, access: KnownAccess) -> Result<bool, SqliteError> {
    let (id, grant, client) = (access.id.as_uuid(), access.grant.as_uuid(), access.client.as_uuid());
    let lives_on = LivingOn { client: client.as_bytes(), grant: grant.as_bytes(), token: id.as_bytes() };
    Ok(lives_on.get_result(connection)?)
}

pub(crate) fn find_owner(
    connection: &mut SqliteConnection,
    wallet: &WalletAccount,
) -> Result<Option<UserId>, SqliteError> {
    let at = Row { table: "wallets", key: wallet.address.as_bytes() };
    owner_of(connection, wallet)?.map(|user| at.id("user_id", &user)).transpose()
}

pub(crate) fn wallets_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<LinkedWallet>, SqliteError> {
    let user = user.as_uuid();
    let rows = wallets::table
        .filter(wallets::user_id.eq(user.as_bytes().as_slice()))
        .order((wallets::linked_at, wallets::family, wallets::address))
        .select(WalletRow::as_select())
        .load(connection)?;
    rows.into_iter().map(LinkedWallet::try_from).collect()
}

statement! {
    /// A live access token and who holds it. Whether its grant was revoked is read from the index of revoked
    /// grants, because reading `grants` itself would cost as much as the row that this statement saves.
    FindLiving<'a> {
        place: i64 as BigInt,
        id: &'a [u8] as Binary,
    } -> ((Binary, Text, BigInt, Binary, BigInt), (Binary, Binary, Text, Text, Text)) = "\
        SELECT grant_id, scope, issued_at, access_hash, expires_at, client_id, user_id, family, chain, address FROM access_tokens a \
        WHERE place = :place AND id = :id AND EXISTS (SELECT 1 FROM clients WHERE clients.id = a.client_id) \
        AND NOT EXISTS (SELECT 1 FROM grants INDEXED BY grants_ended \
        WHERE grants.id = a.grant_id AND grants.revoked_at IS NOT NULL)"
}

statement! {
    LivingOn<'a> {
        client: &'a [u8] as Binary,
        grant: &'a [u8] as Binary,
        token: &'a [u8] as Binary,
    } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM clients WHERE id = :client) \
        AND NOT EXISTS (SELECT 1 FROM grants INDEXED BY grants_ended WHERE id = :grant AND revoked_at IS NOT NULL) \
        AND NOT EXISTS (SELECT 1 FROM tokens INDEXED BY tokens_ended WHERE id = :token AND access_revoked_at IS NOT NULL)"
}
