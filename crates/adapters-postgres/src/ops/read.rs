//! Look-ups: each one statement, and so one moment.

use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, TokenId, UserId};
use countersign_domain::refresh::{NewestToken, RefreshSnapshot};
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{KnownAccess, LinkedWallet};
use diesel::prelude::*;
use diesel::sql_types::{Array, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::rows::grant::{GrantRow, HolderRow};
use crate::rows::token::{AccessRow, TokenRow, access_snapshot};
use crate::schema::{clients, grants, tokens};
use crate::statement::statement;

/// Id, parent and time of issue.
type NewestRow = (Uuid, Option<Uuid>, OffsetDateTime);

/// Finds clients; those who are not there are left out.
pub(crate) fn find_clients(connection: &mut PgConnection, ids: &[Uuid]) -> OpResult<Vec<Client>> {
    let rows: Vec<ClientRow> =
        clients::table.filter(clients::id.eq_any(ids)).select(ClientRow::as_select()).load(connection)?;
    let clients: Result<_, _> = rows.into_iter().map(Client::try_from).collect();
    Ok(clients?)
}

pub(crate) fn list_clients(
    connection: &mut PgConnection,
    after: Option<ClientId>,
    limit: u32,
) -> OpResult<Vec<Client>> {
    let page = clients::table.select(ClientRow::as_select()).order(clients::id).limit(limit.into());
    let rows = match after {
        Some(after) => page.filter(clients::id.gt(after.as_uuid())).load(connection)?,
        None => page.load(connection)?,
    };
    let clients: Result<Vec<_>, _> = rows.into_iter().map(Client::try_from).collect();
    Ok(clients?)
}

/// Finds grants; those that are not there are left out.
pub(crate) fn find_grants(connection: &mut PgConnection, ids: &[Uuid]) -> OpResult<Vec<Grant>> {
    let rows: Vec<GrantRow> =
        grants::table.filter(grants::id.eq_any(ids)).select(GrantRow::as_select()).load(connection)?;
    let grants: Result<_, _> = rows.into_iter().map(Grant::try_from).collect();
    Ok(grants?)
}

/// Finds refresh tokens; those that are not there are left out.
pub(crate) fn find_refreshes(connection: &mut PgConnection, ids: &[Uuid]) -> OpResult<Vec<RefreshSnapshot>> {
    let newest = diesel::alias!(tokens as newest);
    let (newest_id, newest_parent, newest_issued_at) =
        (newest.field(tokens::id), newest.field(tokens::parent_id), newest.field(tokens::issued_at));
    let rows: Vec<(TokenRow, GrantRow, NewestRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .inner_join(newest.on(newest_id.nullable().eq(grants::newest_token)))
        .filter(tokens::id.eq_any(ids))
        .select((TokenRow::as_select(), GrantRow::as_select(), (newest_id, newest_parent, newest_issued_at)))
        .load(connection)?;
    let snapshot = |(token, grant, (id, parent, issued_at)): (TokenRow, GrantRow, NewestRow)| {
        let newest =
            NewestToken { id: TokenId::from_uuid(id), parent: parent.map(TokenId::from_uuid), issued_at };
        Ok(RefreshSnapshot { token: token.try_into()?, grant: grant.try_into()?, newest })
    };
    rows.into_iter().map(snapshot).collect()
}

/// Finds access tokens; those that are not there are left out.
pub(crate) fn find_accesses(connection: &mut PgConnection, ids: &[Uuid]) -> OpResult<Vec<AccessSnapshot>> {
    let rows: Vec<(AccessRow, HolderRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .filter(tokens::id.eq_any(ids))
        .select((AccessRow::as_select(), HolderRow::as_select()))
        .load(connection)?;
    let snapshots: Result<_, _> = rows.into_iter().map(access_snapshot).collect();
    Ok(snapshots?)
}

statement! {
    /// Gives those that live on. What ended is in indexes of its own, which are small. Each key is looked for by itself, in a
    /// subquery that the planner cannot make a join of whole tables.
    LivingOn {
        id: Vec<Uuid> as Array<SqlUuid>,
        grant_id: Vec<Uuid> as Array<SqlUuid>,
        client_id: Vec<Uuid> as Array<SqlUuid>,
    } -> (SqlUuid) = "\
        SELECT asked.id FROM unnest(:id, :grant_id, :client_id) AS asked (id, grant_id, client_id) \
        WHERE (SELECT TRUE FROM clients WHERE clients.id = asked.client_id) \
          AND (SELECT TRUE FROM grants WHERE grants.id = asked.grant_id AND grants.revoked_at IS NOT NULL) IS NULL \
          AND (SELECT TRUE FROM tokens WHERE tokens.id = asked.id AND tokens.access_revoked_at IS NOT NULL) IS NULL"
}

/// Finds which of these access tokens live on.
pub(crate) fn living_on(connection: &mut PgConnection, known: &[KnownAccess]) -> OpResult<Vec<TokenId>> {
    let living_on = LivingOn {
        id: known.iter().map(|access| access.id.as_uuid()).collect(),
        grant_id: known.iter().map(|access| access.grant.as_uuid()).collect(),
        client_id: known.iter().map(|access| access.client.as_uuid()).collect(),
    };
    let living: Vec<(Uuid,)> = living_on.load(connection)?;
    Ok(living.into_iter().map(|(id,)| TokenId::from_uuid(id)).collect())
}

statement! {
    /// The order of a database's own language is none that other stores know.
    WalletsOf { user: Uuid as SqlUuid } -> (Text, Nullable<Text>, Text, Timestamptz) = "\
        SELECT family, chain, address, linked_at FROM wallets WHERE user_id = :user \
        ORDER BY linked_at, family COLLATE \"C\", address COLLATE \"C\""
}

pub(crate) fn wallets_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<LinkedWallet>> {
    let rows: Vec<(String, Option<String>, String, OffsetDateTime)> =
        WalletsOf { user: user.as_uuid() }.load(connection)?;
    let wallets = rows.into_iter().map(|(family, chain, address, linked_at)| {
        let chain = chain.unwrap_or_else(|| chain_of_old_wallet(&family));
        LinkedWallet { account: WalletAccount { family, chain, address }, linked_at }
    });
    Ok(wallets.collect())
}
