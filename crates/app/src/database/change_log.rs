//! What a command changed, as a line of the log: on standard error, in the format of `log_format`, if `log` is `debug`
//! or `trace`. The record of events has each change anyway, and people read the answer of the command.
//!
//! The lines are made here and nowhere else, so that their words and fields stay the same: `client.id`, with `rule` and
//! `release`, or `old_secret.kept` and `old_secret.expires_at` for a new secret; `group`; `user.id`; `wallet`
//! (shortened); `resource`; `key.id` and `key.algorithm`; `admin_key.id`, `admin_key.name` and `admin_key.scopes`; and
//! `operator.uid`, the user of this process. Under `sudo`, `operator.sudo_uid` is the user who called it.

use countersign_domain::act::{Act, ActName, Topic};
use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::{ClientAccess, Release};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, InvitationId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::subject::Subject;
use countersign_operators::operate::Effect;
use countersign_ports::RotatedKeys;

use crate::database::operator::Operator;
use crate::output::terminal::iso8601;

/// The target of all these lines.
pub(crate) const TARGET: &str = "countersign::changes";

/// What a line says besides its message and the operator.
#[derive(Default)]
struct Line {
    client: Option<ClientId>,
    rule: Option<String>,
    release: Option<Release>,
    old_secret_kept: Option<bool>,
    old_secret_expires_at: Option<String>,
    group: Option<GroupName>,
    invitation: Option<InvitationId>,
    user: Option<String>,
    wallet: Option<String>,
    resource: Option<String>,
    key: Option<(String, String)>,
    admin_key: Option<AdminKey>,
}

/// An act was made, by a command or for a file.
pub(crate) fn made(act: &Act, effect: &Effect) {
    // These end what an earlier one did not get to.
    let is_repeated = matches!(effect, Effect::Blocked(..) | Effect::SignedOut(..));
    if effect.is_nothing() && !is_repeated {
        return;
    }
    let name = act.name();
    if let Effect::Added(group, added) = effect {
        let new = added.iter().filter(|added| !added.already);
        return new.for_each(|added| Line::of_member(group, &added.who).write(name));
    }
    if let Effect::Removed(group, removed) = effect {
        let gone = removed.iter().filter(|removed| removed.was_member);
        return gone.for_each(|removed| Line::of_member(group, &removed.who).write(name));
    }
    if let Effect::Keys(RotatedKeys { made, withdrawn }) = effect {
        made.iter().for_each(|key| Line::of_key(key).write(name));
        return withdrawn.iter().for_each(|key| Line::of_key(key).write(ActName::WithdrawKey));
    }
    let mut line = Line::about(act.about());
    if let Effect::Registered(registered) = effect {
        line.client = Some(registered.client.id);
    }
    if let Effect::Rotated(_, rotated) = effect {
        line.old_secret_kept = Some(rotated.old_expires_at.is_some());
        line.old_secret_expires_at = rotated.old_expires_at.map(iso8601);
    }
    if let Effect::AccessChanged(changed) = effect {
        let ClientAccess { rule, release } = &changed.now.client.access;
        line.rule = Some(rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string));
        line.release = Some(release.clone());
    }
    if let Effect::InvitationCreated(created) = effect {
        line.invitation = Some(created.invitation.id);
    }
    if let Effect::AdminKeyCreated(created) = effect {
        line.admin_key = Some(created.key.clone());
    }
    if let Effect::AdminKeyRevoked(key) = effect {
        line.admin_key = Some(AdminKey::clone(key));
    }
    line.write(name);
}

impl Line {
    /// A user's id, or a wallet as it may stand in a log.
    fn of(who: &Subject) -> Self {
        match who {
            Subject::User(user) => Self { user: Some(user.to_string()), ..Self::default() },
            Subject::Wallet(account) => {
                let wallet = format!("{}:{}", account.chain, account.shortened());
                Self { wallet: Some(wallet), ..Self::default() }
            }
        }
    }

    fn of_member(group: &GroupName, who: &Subject) -> Self {
        Self { group: Some(group.clone()), ..Self::of(who) }
    }

    fn of_key((kid, algorithm): &(String, String)) -> Self {
        Self { key: Some((kid.clone(), algorithm.clone())), ..Self::default() }
    }

    fn about(topic: Topic<'_>) -> Self {
        let mut line = Self::default();
        match topic {
            Topic::User(user) => line = Self::of(&Subject::User(user.id)),
            Topic::Wallet(wallet) => line = Self::of(&Subject::Wallet(wallet.clone())),
            Topic::Group(group) => line.group = Some(group.clone()),
            Topic::Invitation(id) => line.invitation = Some(id),
            Topic::NewClient(id) => line.client = id,
            Topic::Client(client) => line.client = Some(client.id),
            Topic::Resource(uri) => line.resource = Some(uri.to_owned()),
            Topic::Keys(_) | Topic::AdminKey(_) | Topic::Proposal(_) => {}
        }
        line
    }

    fn write(self, act: ActName) {
        let (uid, sudo_uid) = operator();
        let message = act.row().log;
        let (kid, algorithm) = self.key.unzip();
        let admin_key = self.admin_key.as_ref();
        tracing::info!(
            target: TARGET,
            {
                client.id = self.client.map(display),
                rule = self.rule,
                release = self.release.as_ref().map(display),
                old_secret.kept = self.old_secret_kept,
                old_secret.expires_at = self.old_secret_expires_at,
                group = self.group.as_ref().map(display),
                invitation.id = self.invitation.map(display),
                user.id = self.user,
                wallet = self.wallet,
                resource = self.resource,
                key.id = kid,
                key.algorithm = algorithm,
                admin_key.id = admin_key.map(|key| display(key.id)),
                admin_key.name = admin_key.map(|key| display(&key.name)),
                admin_key.scopes = admin_key.map(|key| display(&key.scopes)),
                operator.uid = uid,
                operator.sudo_uid = sudo_uid
            },
            "{message}"
        );
    }
}

/// The database that a command works on, and the issuer of its settings.
pub(crate) fn works_on(database: &str, issuer: &PublicUrl) {
    tracing::debug!(target: TARGET, { database, issuer = issuer.as_str() }, "command works on this database");
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
