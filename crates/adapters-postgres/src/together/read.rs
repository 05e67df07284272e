//! Look-ups of many at once: each batch one statement, and so one moment after all of its callers asked.

use std::collections::{HashMap, HashSet};

use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::KnownAccess;
use diesel::prelude::*;

use super::column;
use crate::batch::Batched;
use crate::error::OpResult;
use crate::ops::read::{find_accesses, find_clients, find_grants, find_refreshes, living_on};

/// Makes a kind of look-up that is carried out for many at once. Many may look up the same.
macro_rules! look_up {
    ($(#[$doc:meta])* $name:ident($id:ty) -> $found:ty = $find:path, by $key:expr) => {
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) $id);

        impl Batched for $name {
            type Outcome = Option<$found>;

            fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
                []
            }

            fn together(
                connection: &mut PgConnection,
                batch: &[Self],
            ) -> OpResult<Vec<Option<Option<$found>>>> {
                let ids = column(batch, |look_up| look_up.0.as_uuid());
                let key: fn(&$found) -> $id = $key;
                let found: HashMap<$id, $found> =
                    $find(connection, &ids)?.into_iter().map(|found| (key(&found), found)).collect();
                Ok(column(batch, |look_up| Some(found.get(&look_up.0).cloned())))
            }

            fn alone(&self, connection: &mut PgConnection) -> OpResult<Option<$found>> {
                Ok($find(connection, &[self.0.as_uuid()])?.pop())
            }
        }
    };
}

look_up! {
    /// A client by its id.
    FindClient(ClientId) -> Client = find_clients, by |client| client.id
}

look_up! {
    /// A grant by its id.
    FindGrant(GrantId) -> Grant = find_grants, by |grant| grant.id
}

look_up! {
    /// What a refresh token means, by its id.
    FindRefresh(TokenId) -> RefreshSnapshot = find_refreshes, by |snapshot| snapshot.token.id
}

look_up! {
    /// What an access token means, by its id.
    FindAccess(TokenId) -> AccessSnapshot = find_accesses, by |snapshot| snapshot.id
}

/// Does an access token that was found before live on?
pub(crate) struct LivesOn(pub(crate) KnownAccess);

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
