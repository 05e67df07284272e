//! Deletes users and clients that nobody uses.

use std::collections::BTreeMap;

use countersign_domain::admission::ClientAccess;
use countersign_domain::client::Client;
use countersign_domain::id::{ClientId, UserId};
use countersign_ports::{DocumentsForgotten, ForgetDocuments, ForgetUnused, Purged};
use time::OffsetDateTime;

use super::{GrantRow, Tables, count, count_of};

/// Records that a client was told about the user of a deleted grant, if its code was redeemed. Always returns
/// false, for use in `retain`.
pub(super) fn is_told(untold: &mut BTreeMap<UserId, OffsetDateTime>, row: &GrantRow) -> bool {
    if let Some(user) = row.grant.holder.user().filter(|_| row.grant.redeemed) {
        untold.remove(&user);
    }
    false
}

impl Tables {
    pub(super) fn forget_unused(&mut self, command: ForgetUnused) -> Purged {
        let due = |(_, since): &(&UserId, &OffsetDateTime)| **since < command.before.time();
        let mut asked: Vec<_> = self.untold.iter().filter(due).map(|(user, since)| (*since, *user)).collect();
        asked.sort_unstable();
        let more = asked.len() > count(command.limit);
        asked.truncate(count(command.limit));
        let mut rows = 0;
        for (_, user) in asked {
            let is_kept = self.grants.values().any(|row| row.grant.holder.user() == Some(user))
                || self.sessions.values().any(|session| session.user == user)
                || self.emails.contains_key(&user)
                || self.blocked_users.contains_key(&user)
                || self.group_users.keys().any(|(_, member)| *member == user)
                || self.wallets.values().filter(|wallet| wallet.user == user).count() > 1;
            if is_kept {
                self.untold.insert(user, command.now);
                continue;
            }
            self.consents.retain(|(of, ..), _| *of != user);
            self.wallets.retain(|_, wallet| wallet.user != user);
            self.untold.remove(&user);
            self.users.remove(&user);
            self.seen.remove(&user);
            rows += 1;
        }
        Purged { rows: count_of(rows), more }
    }

    pub(super) fn forget_documents(&mut self, command: ForgetDocuments) -> DocumentsForgotten {
        let is_asked = |id: ClientId| command.after.is_none_or(|after| id > after);
        let described = self.clients.values().filter(|client| {
            client.document.is_some() && client.created_at < command.before.time() && is_asked(client.id)
        });
        let asked: Vec<ClientId> = described.take(count(command.limit)).map(|client| client.id).collect();
        let before = self.clients.len();
        for id in &asked {
            let is_decided =
                |client: &Client| !client.resources.is_empty() || client.access != ClientAccess::default();
            let is_used = self.clients.get(id).is_some_and(is_decided)
                || self.consents.keys().any(|(_, client, _)| client == id)
                || self.grants.values().any(|row| row.grant.client == *id);
            if !is_used {
                self.clients.remove(id);
                self.client_uses.remove(id);
            }
        }
        let next = asked.last().copied().filter(|_| asked.len() == count(command.limit));
        DocumentsForgotten { rows: count_of(before - self.clients.len()), next }
    }
}
