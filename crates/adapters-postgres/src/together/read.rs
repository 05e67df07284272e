//! Many look-ups at once. Each batch is one statement, so it sees one state of the database, after all of its
//! callers asked.

use std::collections::{HashMap, HashSet};

use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::KnownAccess;
use countersign_sql::columns::{Id, Row, StoredId};
use countersign_sql::rows::access_token::{AccessRow, HolderRow, RevokedRow, access_snapshot};
use countersign_sql::rows::client::ClientRow;
use countersign_sql::rows::grant::GrantRow;
use countersign_sql::rows::token::{NewestRow, TokenRow, newest_token};
use countersign_sql::schema::{clients, grants, tokens};
use diesel::prelude::*;
use diesel::sql_types::{Array, Uuid as SqlUuid};
use uuid::Uuid;

use super::column;
use crate::batched::Batched;
use crate::error::OpResult;
use crate::statement::statement;

/// Declares a look-up that is carried out for many ids at once. The same id may be looked up several times.
macro_rules! look_up {
    ($(#[$doc:meta])* $name:ident($id:ty) -> $found:ty = $find:path, by $key:expr) => {
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) $id);

        impl From<$id> for $name {
            fn from(id: $id) -> Self {
                Self(id)
            }
        }

        impl Batched for $name {
            type Outcome = Option<$found>;

            fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
                []
            }

            fn together(
                connection: &mut PgConnection,
                batch: &[Self],
            ) -> OpResult<Vec<Option<Option<$found>>>> {
                let ids = column(batch, |look_up| Id::from(look_up.0));
                let key: fn(&$found) -> $id = $key;
                let found: HashMap<$id, $found> =
                    $find(connection, &ids)?.into_iter().map(|found| (key(&found), found)).collect();
                Ok(column(batch, |look_up| Some(found.get(&look_up.0).cloned())))
            }

            fn alone(&self, connection: &mut PgConnection) -> OpResult<Option<$found>> {
                Ok($find(connection, &[Id::from(self.0)])?.pop())
            }
        }
    };
}

look_up! {
    /// Looks up a client by its id.
    FindClient(ClientId) -> Client = find_clients, by |client| client.id
}

look_up! {
    /// Looks up a grant by its id.
    FindGrant(GrantId) -> Grant = find_grants, by |grant| grant.id
}

look_up! {
    /// Looks up what a refresh token means, by its id.
    FindRefresh(TokenId) -> RefreshSnapshot = find_refreshes, by |snapshot| snapshot.token.id
}

look_up! {
    /// Looks up what an access token means, by its id.
    FindAccess(TokenId) -> AccessSnapshot = find_accesses, by |snapshot| snapshot.id
}

/// Is an access token that was found before still live?
pub(crate) struct LivesOn(pub(crate) KnownAccess);

impl From<KnownAccess> for LivesOn {
    fn from(access: KnownAccess) -> Self {
        Self(access)
    }
}

impl Batched for LivesOn {
    type Outcome = bool;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        []
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<bool>>> {
        let known = column(batch, |look_up| look_up.0);
        let living: HashSet<TokenId> = living_on(connection, &known)?.into_iter().collect();
        Ok(column(batch, |look_up| Some(living.contains(&look_up.0.id))))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<bool> {
        Ok(!living_on(connection, &[self.0])?.is_empty())
    }
}

/// Finds clients. Those that do not exist are left out.
pub(crate) fn find_clients(connection: &mut PgConnection, ids: &[Id]) -> OpResult<Vec<Client>> {
    let rows: Vec<ClientRow> =
        clients::table.filter(clients::id.eq_any(ids)).select(ClientRow::as_select()).load(connection)?;
    let clients: Result<_, _> = rows.into_iter().map(Client::try_from).collect();
    Ok(clients?)
}

/// Finds grants. Those that do not exist are left out.
pub(crate) fn find_grants(connection: &mut PgConnection, ids: &[Id]) -> OpResult<Vec<Grant>> {
    let rows: Vec<GrantRow> =
        grants::table.filter(grants::id.eq_any(ids)).select(GrantRow::as_select()).load(connection)?;
    let grants: Result<_, _> = rows.into_iter().map(Grant::try_from).collect();
    Ok(grants?)
}

/// Finds refresh tokens. Those that do not exist are left out.
pub(crate) fn find_refreshes(connection: &mut PgConnection, ids: &[Id]) -> OpResult<Vec<RefreshSnapshot>> {
    let newest = diesel::alias!(tokens as newest);
    let (newest_id, newest_parent, newest_issued_at) =
        (newest.field(tokens::id), newest.field(tokens::parent_id), newest.field(tokens::issued_at));
    let rows: Vec<(TokenRow, GrantRow, NewestRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .inner_join(newest.on(newest_id.nullable().eq(grants::newest_token)))
        .filter(tokens::id.eq_any(ids))
        .select((TokenRow::as_select(), GrantRow::as_select(), (newest_id, newest_parent, newest_issued_at)))
        .load(connection)?;
    let snapshot = |(token, grant, newest): (TokenRow, GrantRow, NewestRow)| {
        Ok(RefreshSnapshot {
            token: token.try_into()?,
            grant: grant.try_into()?,
            newest: newest_token(newest)?,
        })
    };
    rows.into_iter().map(snapshot).collect()
}

/// Finds access tokens. Those that do not exist are left out.
pub(crate) fn find_accesses(connection: &mut PgConnection, ids: &[Id]) -> OpResult<Vec<AccessSnapshot>> {
    let rows: Vec<(StoredId, AccessRow, HolderRow, RevokedRow)> = tokens::table
        .inner_join(grants::table.on(grants::id.eq(tokens::grant_id)))
        .filter(tokens::id.eq_any(ids))
        .select((
            tokens::id,
            AccessRow::as_select(),
            HolderRow::as_select(),
            (tokens::access_revoked_at, grants::revoked_at),
        ))
        .load(connection)?;
    let snapshot = |(id, access, holder, revoked)| {
        let token = Row { table: "tokens", key: &id }.id("id", &id)?;
        access_snapshot(token, access, holder, revoked)
    };
    let snapshots: Result<_, _> = rows.into_iter().map(snapshot).collect();
    Ok(snapshots?)
}

/// Finds which of these access tokens are still live.
pub(crate) fn living_on(connection: &mut PgConnection, known: &[KnownAccess]) -> OpResult<Vec<TokenId>> {
    let living_on = LivingOn {
        id: known.iter().map(|access| access.id.as_uuid()).collect(),
        grant_id: known.iter().map(|access| access.grant.as_uuid()).collect(),
        client_id: known.iter().map(|access| access.client.as_uuid()).collect(),
    };
    let living: Vec<Uuid> = living_on.load(connection)?;
    Ok(living.into_iter().map(TokenId::from_uuid).collect())
}

statement! {
    /// Returns those that are still live. What was revoked is in indexes of its own, which are small. Each
    /// key is looked up by itself, in a subquery that the planner cannot turn into a join of whole tables.
    LivingOn {
        id: Vec<Uuid> as Array<SqlUuid>,
        grant_id: Vec<Uuid> as Array<SqlUuid>,
        client_id: Vec<Uuid> as Array<SqlUuid>,
    } -> SqlUuid = "\
        SELECT asked.id FROM unnest(:id, :grant_id, :client_id) AS asked (id, grant_id, client_id) \
        WHERE (SELECT TRUE FROM clients WHERE clients.id = asked.client_id) \
          AND (SELECT TRUE FROM grants WHERE grants.id = asked.grant_id AND grants.revoked_at IS NOT NULL) IS NULL \
          AND (SELECT TRUE FROM tokens WHERE tokens.id = asked.id AND tokens.access_revoked_at IS NOT NULL) IS NULL"
}
