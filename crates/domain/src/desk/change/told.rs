//! What the events of each change tell, so that a signature can be compared with what was done.

use super::{Change, NamedUser, Whom};
use crate::admission::Release;
use crate::event::EventKind;
use crate::id::{ClientId, UserId};
use crate::wallet::WalletAccount;

/// What the events of a change tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Their kinds. Not every change makes one of each.
    pub kinds: &'static [EventKind],
    /// The user whom they are about.
    pub user: Option<UserId>,
    /// The wallet that they are about.
    pub wallet: Option<WalletAccount>,
    /// The client that they are about.
    pub client: Option<ClientId>,
    /// Texts among their details.
    pub details: Vec<(&'static str, String)>,
}

impl Change {
    /// What its events tell.
    pub fn told(&self) -> Told {
        match self {
            Self::Block { who, .. } => match who {
                Whom::User(_) => about(&[EventKind::UserBlocked], who),
                Whom::Wallet(_) => about(&[EventKind::WalletBlocked], who),
            },
            Self::Unblock { who } => match who {
                Whom::User(_) => about(&[EventKind::UserUnblocked], who),
                Whom::Wallet(_) => about(&[EventKind::WalletUnblocked], who),
            },
            Self::SignOut { user } => about_user(&[EventKind::UserSignedOut], user),
            Self::DeleteUser { user } => about_user(&[EventKind::AccountDeleted], user),
            Self::CreateGroup { group, .. } => with(&[EventKind::GroupCreated], "group", group),
            Self::RetitleGroup { group, .. } => with(&[EventKind::GroupChanged], "group", group),
            Self::DeleteGroup { group, .. } => with(&[EventKind::GroupDeleted], "group", group),
            Self::AddMember { group, member } => {
                let details = vec![("group", group.to_string())];
                Told { details, ..about(&[EventKind::GroupMemberAdded], member) }
            }
            Self::RemoveMember { group, member } => {
                let details = vec![("group", group.to_string())];
                Told { details, ..about(&[EventKind::GroupMemberRemoved], member) }
            }
            Self::RegisterClient { id, .. } => {
                Told { client: *id, ..with(&[EventKind::ClientRegistered], "origin", "operator") }
            }
            Self::ChangeClient { client, .. } => {
                of_client(&[EventKind::ClientChanged], client.id, Vec::new())
            }
            Self::DeleteClient { client } => of_client(&[EventKind::ClientDeleted], client.id, Vec::new()),
            Self::RotateSecret { client, .. } => {
                of_client(&[EventKind::SecretRotated], client.id, Vec::new())
            }
            Self::OpenResources { client, resources } => {
                let details = vec![("opened", resources.join(" "))];
                of_client(&[EventKind::ClientChanged], client.id, details)
            }
            Self::CloseResources { client, resources } => {
                let details = vec![("closed", resources.join(" "))];
                of_client(&[EventKind::ClientChanged], client.id, details)
            }
            Self::SetAccess { client, rule, release } => {
                let rule = rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
                let release = release.as_ref().map(|release| match release {
                    Release::OfRule => "rule".to_owned(),
                    Release::All | Release::Groups(_) => release.to_string(),
                });
                let release = release.map(|release| ("release", release));
                let details = std::iter::once(("rule", rule)).chain(release).collect();
                of_client(&[EventKind::AccessChanged], client.id, details)
            }
            Self::CreateResource { resource } => {
                with(&[EventKind::ResourceCreated], "resource", &resource.uri)
            }
            Self::UpdateResource { resource, .. } => {
                with(&[EventKind::ResourceChanged], "resource", &resource.uri)
            }
            Self::DeleteResource { uri, .. } => with(&[EventKind::ResourceDeleted], "resource", uri),
            Self::RotateKeys { at_once: false, .. } => of_kinds(&[EventKind::KeyAnnounced]),
            Self::RotateKeys { at_once: true, .. } => {
                of_kinds(&[EventKind::KeyAnnounced, EventKind::KeyRetired])
            }
            Self::WithdrawKey { kid } => with(&[EventKind::KeyRetired], "key", kid),
            Self::CreateAdminKey { name, scopes, .. } => Told {
                details: vec![("key", name.to_string()), ("scopes", scopes.to_string())],
                ..of_kinds(&[EventKind::AdminKeyCreated])
            },
            Self::RevokeAdminKey { name } => with(&[EventKind::AdminKeyRevoked], "key", name),
            Self::WithdrawProposal { proposal } => with(&[EventKind::ChangeWithdrawn], "proposal", proposal),
        }
    }
}

const fn of_kinds(kinds: &'static [EventKind]) -> Told {
    Told { kinds, user: None, wallet: None, client: None, details: Vec::new() }
}

fn with(kinds: &'static [EventKind], name: &'static str, value: impl ToString) -> Told {
    Told { details: vec![(name, value.to_string())], ..of_kinds(kinds) }
}

fn about(kinds: &'static [EventKind], who: &Whom) -> Told {
    match who {
        Whom::User(user) => about_user(kinds, user),
        Whom::Wallet(wallet) => Told { wallet: Some(wallet.clone()), ..of_kinds(kinds) },
    }
}

fn about_user(kinds: &'static [EventKind], user: &NamedUser) -> Told {
    Told { user: Some(user.id), ..of_kinds(kinds) }
}

fn of_client(kinds: &'static [EventKind], client: ClientId, details: Vec<(&'static str, String)>) -> Told {
    Told { client: Some(client), details, ..of_kinds(kinds) }
}
