//! What a command changed, as a line of the log: on standard error, in the format of `log_format`.
//!
//! The lines are made here and nowhere else, so that their words and fields stay the same: `client.id`,
//! `resource`, or `key.id` and `key.algorithm`, and `operator.uid`, the user of this process. Under `sudo`,
//! `operator.sudo_uid` is who called it.

use countersign_domain::id::ClientId;
use countersign_domain::signing_key::SealedKey;

/// The target of all these lines.
pub(crate) const TARGET: &str = "countersign::changes";

/// A client was registered, changed or deleted.
pub(crate) fn client(id: ClientId, change: ClientChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        ClientChange::Registered => "client registered",
        ClientChange::Changed => "client changed",
        ClientChange::SecretRotated => "client got a new secret",
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

/// What happened to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientChange {
    Registered,
    Changed,
    SecretRotated,
    ResourcesOpened,
    ResourcesClosed,
    Deleted,
}

/// A resource was declared, changed or deleted.
pub(crate) fn resource(uri: &str, change: ResourceChanged) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        ResourceChanged::Declared => "resource declared",
        ResourceChanged::Changed => "resource changed",
        ResourceChanged::Deleted => "resource deleted",
    };
    tracing::info!(
        target: TARGET,
        { resource = uri, operator.uid = uid, operator.sudo_uid = sudo_uid },
        "{message}"
    );
}

/// What happened to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceChanged {
    Declared,
    Changed,
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
