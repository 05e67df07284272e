//! What a command changed, as a line of the log: on standard error, in the format of `log_format`.
//!
//! The lines are made here and nowhere else, so that their words and fields stay the same: `client.id`, `user.id`,
//! `wallet` (shortened), `group`, `resource`, `admin_key.id`, `admin_key.name` and `admin_key.scopes`, or `key.id` and `key.algorithm`; for a new secret `old_secret.kept` and
//! `old_secret.expires_at`; and `operator.uid`, the user of this process. Under `sudo`, `operator.sudo_uid` is
//! who called it.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::ClientAccess;
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_usecases::people::Who;
use time::OffsetDateTime;

use crate::client_command::fields;
use crate::operator::Operator;

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

/// A user or a wallet was blocked, or let in again; a user was signed out or deleted.
pub(crate) fn who(who: &Who, change: WhoChange) {
    let (uid, sudo_uid) = operator();
    let (user, wallet) = fields_of(who);
    let noun = match who {
        Who::User(_) => "user",
        Who::Wallet(_) => "wallet",
    };
    let verb = match change {
        WhoChange::Blocked => "blocked",
        WhoChange::Unblocked => "unblocked",
        WhoChange::SignedOut => "signed out",
        WhoChange::Deleted => "deleted",
    };
    tracing::info!(
        target: TARGET,
        { user.id = user, wallet, operator.uid = uid, operator.sudo_uid = sudo_uid },
        "{noun} {verb}"
    );
}

/// What happened to a user or a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoChange {
    Blocked,
    Unblocked,
    SignedOut,
    Deleted,
}

/// A group was created or deleted.
pub(crate) fn group(name: &GroupName, change: GroupChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        GroupChange::Created => "group created",
        GroupChange::Retitled => "group got another title",
        GroupChange::Deleted => "group deleted",
    };
    tracing::info!(
        target: TARGET,
        { group = %name, operator.uid = uid, operator.sudo_uid = sudo_uid },
        "{message}"
    );
}

/// What happened to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupChange {
    Created,
    Retitled,
    Deleted,
}

/// A user or a wallet was put into a group, or taken out.
pub(crate) fn member(name: &GroupName, who: &Who, change: MemberChange) {
    let (uid, sudo_uid) = operator();
    let (user, wallet) = fields_of(who);
    let message = match change {
        MemberChange::Added => "member added to group",
        MemberChange::Removed => "member removed from group",
    };
    tracing::info!(
        target: TARGET,
        { group = %name, user.id = user, wallet, operator.uid = uid, operator.sudo_uid = sudo_uid },
        "{message}"
    );
}

/// What happened to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberChange {
    Added,
    Removed,
}

/// It was decided whom a client lets in.
pub(crate) fn access(client: &Client) {
    let (uid, sudo_uid) = operator();
    let ClientAccess { rule, release } = &client.access;
    tracing::info!(
        target: TARGET,
        {
            client.id = %client.id,
            rule = rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string),
            release = %release,
            operator.uid = uid,
            operator.sudo_uid = sudo_uid
        },
        "access to client changed"
    );
}

/// A user's id, or a wallet as it may stand in a log.
fn fields_of(who: &Who) -> (Option<String>, Option<String>) {
    match who {
        Who::User(user) => (Some(user.to_string()), None),
        Who::Wallet(account) => (None, Some(format!("{}:{}", account.chain, account.shortened()))),
    }
}

/// A key was made or withdrawn.
pub(crate) fn key(kid: &str, algorithm: &str, change: KeyChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        KeyChange::Made => "signing key made",
        KeyChange::Withdrawn => "signing key withdrawn",
    };
    tracing::info!(
        target: TARGET,
        {
            key.id = kid,
            key.algorithm = algorithm,
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

/// A key of the admin interface was created or revoked.
pub(crate) fn admin_key(key: &AdminKey, change: AdminKeyChange) {
    let (uid, sudo_uid) = operator();
    let message = match change {
        AdminKeyChange::Created => "admin key created",
        AdminKeyChange::Revoked => "admin key revoked",
    };
    tracing::info!(
        target: TARGET,
        {
            admin_key.id = %key.id,
            admin_key.name = %key.name,
            admin_key.scopes = %key.scopes,
            operator.uid = uid,
            operator.sudo_uid = sudo_uid
        },
        "{message}"
    );
}

/// What happened to a key of the admin interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdminKeyChange {
    Created,
    Revoked,
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
    let Operator { uid, sudo_uid } = Operator::of_this_process();
    (uid, sudo_uid)
}
