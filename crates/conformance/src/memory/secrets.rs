//! The secrets of clients in memory: how they are replaced, and what operators are told about them.

use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::client_secrets::{ClientSecrets, OldSecret};
use countersign_domain::id::ClientId;
use countersign_domain::secret::SecretHash;
use countersign_ports::{RotateSecret, SecretRecord, SecretUse, StoreError};
use time::OffsetDateTime;

use super::Tables;

/// What is known about a secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SecretRow {
    created_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
}

/// The key of a [`SecretRow`].
pub(super) type SecretKey = (ClientId, [u8; 32]);

/// How a client authenticates after an update: its secrets are not the update's to change.
pub(super) fn updated(present: &Client, given: &Client) -> ClientAuthentication {
    match (&given.authentication, &present.authentication) {
        (ClientAuthentication::Secret { method, .. }, ClientAuthentication::Secret { secrets, .. }) => {
            ClientAuthentication::Secret { method: *method, secrets: *secrets }
        }
        (
            ClientAuthentication::Secret { method, secrets },
            ClientAuthentication::Keys | ClientAuthentication::Public,
        ) => ClientAuthentication::Secret { method: *method, secrets: ClientSecrets::only(secrets.current) },
        (ClientAuthentication::Keys | ClientAuthentication::Public, _) => given.authentication.clone(),
    }
}

impl Tables {
    pub(super) fn rotate_secret(&mut self, command: RotateSecret) -> Result<bool, StoreError> {
        let RotateSecret { client, replaced, hash, now, keep_old_until, event } = command;
        let current = self.clients.get(&client).and_then(secrets_of).map(|secrets| secrets.current);
        if current == Some(hash) || current != Some(replaced) {
            return Ok(current == Some(hash));
        }
        self.record(event)?;
        let Some(secrets) = self.clients.get_mut(&client).and_then(secrets_mut) else { return Ok(false) };
        let old = keep_old_until.map(|expires_at| OldSecret { hash: replaced, expires_at });
        *secrets = ClientSecrets { current: hash, old };
        self.forget_other_secrets(client);
        let row = SecretRow { created_at: Some(now), last_used_at: None };
        self.secrets.entry((client, *hash.as_bytes())).or_insert(row);
        Ok(true)
    }

    pub(super) fn note_secret_use(&mut self, SecretUse { client, hash, used_at }: SecretUse) {
        let created_at = Some(match self.clients.get(&client) {
            Some(found) if hashes_of(found).any(|known| known == hash) => found.created_at,
            Some(_) | None => return,
        });
        let row = SecretRow { created_at, last_used_at: None };
        let row = self.secrets.entry((client, *hash.as_bytes())).or_insert(row);
        row.last_used_at = row.last_used_at.max(Some(used_at));
    }

    pub(super) fn secrets_of(&self, id: ClientId) -> Vec<SecretRecord> {
        let Some(client) = self.clients.get(&id) else { return Vec::new() };
        let Some(secrets) = secrets_of(client) else { return Vec::new() };
        let record = |hash: SecretHash, expires_at| match self.secrets.get(&(id, *hash.as_bytes())) {
            Some(row) => {
                SecretRecord { created_at: row.created_at, expires_at, last_used_at: row.last_used_at }
            }
            // The first secret of a client was made with the client.
            None => SecretRecord { created_at: Some(client.created_at), expires_at, last_used_at: None },
        };
        let old = secrets.old.map(|old| record(old.hash, Some(old.expires_at)));
        std::iter::once(record(secrets.current, None)).chain(old).collect()
    }

    /// Deletes up to `limit` old secrets that ended before this, the first to end first. Returns how many, and
    /// whether there are more.
    pub(super) fn purge_secrets(&mut self, before: OffsetDateTime, limit: usize) -> (usize, bool) {
        let old =
            self.clients.values().filter_map(|client| Some((secrets_of(client)?.old?.expires_at, client.id)));
        let mut ended: Vec<_> = old.filter(|(expires_at, _)| *expires_at < before).collect();
        ended.sort_unstable();
        let more = ended.len() > limit;
        ended.truncate(limit);
        for (_, id) in &ended {
            if let Some(secrets) = self.clients.get_mut(id).and_then(secrets_mut) {
                secrets.old = None;
            }
            self.forget_other_secrets(*id);
        }
        (ended.len(), more)
    }

    /// Forgets what was known about secrets that the client no longer has.
    pub(super) fn forget_other_secrets(&mut self, id: ClientId) {
        let hashes = self.clients.get(&id).into_iter().flat_map(hashes_of);
        let kept: Vec<SecretKey> = hashes.map(|hash| (id, *hash.as_bytes())).collect();
        self.secrets.retain(|key, _| key.0 != id || kept.contains(key));
    }
}

fn secrets_of(client: &Client) -> Option<ClientSecrets> {
    match client.authentication {
        ClientAuthentication::Secret { secrets, .. } => Some(secrets),
        ClientAuthentication::Keys | ClientAuthentication::Public => None,
    }
}

fn secrets_mut(client: &mut Client) -> Option<&mut ClientSecrets> {
    match &mut client.authentication {
        ClientAuthentication::Secret { secrets, .. } => Some(secrets),
        ClientAuthentication::Keys | ClientAuthentication::Public => None,
    }
}

fn hashes_of(client: &Client) -> impl Iterator<Item = SecretHash> + use<> {
    let secrets = secrets_of(client).into_iter();
    secrets.flat_map(|secrets| std::iter::once(secrets.current).chain(secrets.old.map(|old| old.hash)))
}
