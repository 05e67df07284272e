//! What a command changed, as a line of the log: on standard error, in the format of `log_format`.
//!
//! The lines are made here and nowhere else, so that their words and fields stay the same: `client.id` or
//! `key.id` and `key.algorithm`, for a new secret `old_secret.kept` and `old_secret.expires_at`, and
//! `operator.uid`, the user of this process. Under `sudo`,
//! `operator.sudo_uid` is who called it.

use countersign_domain::id::ClientId;
use countersign_domain::signing_key::SealedKey;
use time::OffsetDateTime;

use crate::client_command::fields;

/// The target of all these lines.
pub(crate) const TARGET: &str = "countersign::changes";

/// A client was registered, changed or deleted.
pub(crate) fn client(id: ClientId, change: ClientChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        ClientChange::Registered => "client registered",
        ClientChange::Changed => "client changed",
        ClientChange::SecretRotated { old_expires_at } => return secret_rotated(id, old_expires_at),
        ClientChange::ResourcesOpened => "resources opened to client",
        ClientChange::ResourcesClosed => "resources closed to client",
        ClientChange::Deleted => "client deleted",
    };
    tracing::info!(
        target: TARGET,
        { client.id = %id, operator.uid = uid, operator.sudo_uid = sudo_uid },
        "{message}"
    );
}

/// A client got a new secret. The old one ended, or works until this time.
fn secret_rotated(id: ClientId, old_expires_at: Option<OffsetDateTime>) {
    let (uid, sudo_uid) = operator();
    let old_expires_at = old_expires_at.map(fields::iso8601);
    tracing::info!(
        target: TARGET,
        {
            client.id = %id,
            old_secret.kept = old_expires_at.is_some(),
            old_secret.expires_at = old_expires_at.as_deref(),
            operator.uid = uid,
            operator.sudo_uid = sudo_uid
        },
        "client got a new secret"
    );
}

/// What happened to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientChange {
    Registered,
    Changed,
    /// Until when the old secret works; `None` if it ended.
    SecretRotated {
        old_expires_at: Option<OffsetDateTime>,
    },
    ResourcesOpened,
    ResourcesClosed,
    Deleted,
}

/// A key was made or withdrawn.
pub(crate) fn key(key: &SealedKey, change: KeyChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        KeyChange::Made => "signing key made",
        KeyChange::Withdrawn => "signing key withdrawn",
    };
    tracing::info!(
        target: TARGET,
        {
            key.id = %key.kid,
            key.algorithm = %key.algorithm,
            operator.uid = uid,
            operator.sudo_uid = sudo_uid
        },
        "{message}"
    );
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyChange {
    Made,
    Withdrawn,
}

/// Migrations ran.
pub(crate) fn schema(migrations: &[String]) {
    let (uid, sudo_uid) = operator();
    tracing::info!(
        target: TARGET,
        { migrations = migrations.join(", "), operator.uid = uid, operator.sudo_uid = sudo_uid },
        "schema changed"
    );
}

/// The user of this process, and who called it through `sudo`.
fn operator() -> (u32, Option<u32>) {
    let caller = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
    (rustix::process::getuid().as_raw(), caller)
}
