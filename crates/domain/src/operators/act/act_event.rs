//! What the events of each act record, so that a signature can be compared with what was done.

use super::{Act, NamedSubject, Topic};
use crate::admission::{ClientAccess, Release};
use crate::event::EventKind;
use crate::id::{ClientId, UserId};
use crate::subject::Subject;
use crate::wallet::WalletAccount;

/// What the events of an act record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActEvent {
    /// Their kinds. Not every act records one of each.
    pub kinds: &'static [EventKind],
    /// The user they are about.
    pub user: Option<UserId>,
    /// The wallet that they are about.
    pub wallet: Option<WalletAccount>,
    /// The client that they are about.
    pub client: Option<ClientId>,
    /// Texts among their details.
    pub details: Vec<(&'static str, String)>,
}

impl Act {
    /// What its events record: what it is about, and for some acts more.
    pub fn act_event(&self) -> ActEvent {
        let mut record = ActEvent {
            kinds: self.name().row().events,
            user: None,
            wallet: None,
            client: None,
            details: Vec::new(),
        };
        record.about(self.about());
        (self.name().row().records)(self, &mut record);
        record
    }
}

/// Nothing besides what the act is about.
pub(super) const fn nothing_more(_: &Act, _: &mut ActEvent) {}

pub(super) fn offline_access(act: &Act, record: &mut ActEvent) {
    if let Act::SignOut { offline: Some(offline), .. } = act {
        record.with("offline_access", offline.name());
    }
}

/// Of several members, each has an event.
pub(super) fn only_member(act: &Act, record: &mut ActEvent) {
    if let [member] = act.members() {
        record.of_member(member);
    }
}

pub(super) fn invitation(act: &Act, record: &mut ActEvent) {
    if let Act::CreateInvitation { limits, client, .. } = act {
        record.with("uses", limits.uses);
        record.client = client.as_ref().map(|client| client.id);
    }
}

pub(super) fn registration(act: &Act, record: &mut ActEvent) {
    record.with("origin", "operator");
    let Act::RegisterClient { access: Some(ClientAccess { rule, release }), .. } = act else { return };
    if let Some(rule) = rule {
        record.with("rule", rule);
    }
    if *release != Release::OfRule {
        record.with("release", release);
    }
}

pub(super) fn resources(act: &Act, record: &mut ActEvent) {
    if let Act::OpenResources { resources, .. } = act {
        record.with("opened", resources.join(" "));
    }
    if let Act::CloseResources { resources, .. } = act {
        record.with("closed", resources.join(" "));
    }
}

pub(super) fn access(act: &Act, record: &mut ActEvent) {
    let Act::SetAccess { rule, release, .. } = act else { return };
    record.with("rule", rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string));
    match release {
        Some(Release::OfRule) => record.with("release", "rule"),
        Some(release @ (Release::All | Release::Groups(_))) => record.with("release", release),
        None => {}
    }
}

/// Nothing is withdrawn yet by keys that sign in a day.
pub(super) fn only_announced(act: &Act, record: &mut ActEvent) {
    if let Act::RotateKeys { at_once: false, .. } = act {
        record.kinds = &[EventKind::KeyAnnounced];
    }
}

pub(super) fn scopes(act: &Act, record: &mut ActEvent) {
    if let Act::CreateAdminKey { scopes, .. } = act {
        record.with("scopes", scopes);
    }
}

impl ActEvent {
    fn with(&mut self, name: &'static str, value: impl ToString) {
        self.details.push((name, value.to_string()));
    }

    fn about(&mut self, topic: Topic<'_>) {
        match topic {
            Topic::User(user) => self.user = Some(user.id),
            Topic::Wallet(wallet) => self.wallet = Some(wallet.clone()),
            Topic::Group(group) => self.with("group", group),
            Topic::Invitation(id) => self.with("invitation", id),
            Topic::NewClient(id) => self.client = id,
            Topic::Client(client) => self.client = Some(client.id),
            Topic::Resource(uri) => self.with("resource", uri),
            Topic::Keys(Some(kid)) => self.with("key", kid),
            Topic::Keys(None) => {}
            Topic::AdminKey(name) => self.with("key", name),
            Topic::Proposal(id) => self.with("proposal", id),
        }
    }

    fn of_member(&mut self, member: &NamedSubject) {
        match member {
            Subject::User(user) => self.user = Some(user.id),
            Subject::Wallet(wallet) => self.wallet = Some(wallet.account.clone()),
        }
    }
}
