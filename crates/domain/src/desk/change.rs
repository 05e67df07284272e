//! A change that an operator can make at the desk: the words that are signed, and the lines from which programs
//! read it back.
//!
//! The words and the lines of a change never differ between releases: signatures are verified years later.

mod lines;
mod told;
mod words;

pub use told::Told;

use crate::admin_key::{AdminKeyName, AdminScopes};
use crate::admission::{AccessRule, Release};
use crate::client_secrets::KeepOld;
use crate::group::{GroupName, GroupTitle};
use crate::id::{ClientId, GrantId, UserId};
use crate::registration::RequestedMetadata;
use crate::resource::{OpenTo, ResourceScope};
use crate::signing_algorithm::SigningAlgorithm;
use crate::wallet::WalletAccount;

use super::operators::{DeskPolicy, Quorum};

/// Who uses what a change takes away. The operator who signs should know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedBy {
    /// How many clients.
    pub clients: u64,
    /// The names of the first ones.
    pub names: Vec<String>,
}

/// A change that an operator can make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Keeps a user or a wallet out.
    Block {
        /// Whom.
        who: Whom,
        /// Why, for operators.
        reason: Option<String>,
    },
    /// Lets a user or a wallet in again.
    Unblock {
        /// Whom.
        who: Whom,
    },
    /// Signs a user out everywhere.
    SignOut {
        /// Whom.
        user: NamedUser,
    },
    /// Deletes a user with everything that is theirs.
    DeleteUser {
        /// Whom.
        user: NamedUser,
    },
    /// Creates a group.
    CreateGroup {
        /// Its name.
        group: GroupName,
        /// Its title.
        title: Option<GroupTitle>,
    },
    /// Gives a group another title, or takes its title away.
    RetitleGroup {
        /// Which one.
        group: GroupName,
        /// Its title from now on.
        title: Option<GroupTitle>,
    },
    /// Deletes a group with its memberships, even if it is in use.
    DeleteGroup {
        /// Which one.
        group: GroupName,
        /// The clients that let people in by it.
        used_by: UsedBy,
    },
    /// Puts somebody into a group. One at a time: the text of one person's event never names another person.
    AddMember {
        /// Which group.
        group: GroupName,
        /// Whom.
        member: Whom,
    },
    /// Takes somebody out of a group.
    RemoveMember {
        /// Which group.
        group: GroupName,
        /// Whom.
        member: Whom,
    },
    /// Registers a client.
    RegisterClient {
        /// The id that it gets. `None` until the text is made.
        id: Option<ClientId>,
        /// What it registers.
        metadata: Box<RequestedMetadata>,
        /// The resources that are opened to it.
        resources: Vec<String>,
    },
    /// Replaces the metadata of a client.
    ChangeClient {
        /// Which one.
        client: NamedClient,
        /// What is registered from now on.
        metadata: Box<RequestedMetadata>,
    },
    /// Deletes a client with everything that people granted to it.
    DeleteClient {
        /// Which one.
        client: NamedClient,
    },
    /// Gives a client a new secret.
    RotateSecret {
        /// Which one.
        client: NamedClient,
        /// How long the old secret works on.
        keep_old: KeepOld,
    },
    /// Opens resources to a client.
    OpenResources {
        /// Which client.
        client: NamedClient,
        /// The URIs of the resources.
        resources: Vec<String>,
    },
    /// Closes resources to a client.
    CloseResources {
        /// Which client.
        client: NamedClient,
        /// The URIs of the resources.
        resources: Vec<String>,
    },
    /// Decides whom a client lets in.
    SetAccess {
        /// Which client.
        client: NamedClient,
        /// The rule; `None` to follow the setting `default_access`.
        rule: Option<AccessRule>,
        /// Which groups it is told; `None` if that stays.
        release: Option<Release>,
    },
    /// Declares a resource.
    CreateResource {
        /// The resource.
        resource: ResourceWords,
    },
    /// Changes a resource, even if what it loses is in use.
    UpdateResource {
        /// As it is from now on.
        resource: ResourceWords,
        /// The clients that may ask for a scope that it loses.
        used_by: UsedBy,
    },
    /// Deletes a resource, even if it is in use.
    DeleteResource {
        /// Its URI.
        uri: String,
        /// The clients that may ask for a scope of it, or name it.
        used_by: UsedBy,
    },
    /// Makes new signing keys.
    RotateKeys {
        /// Do they sign now, and are the old ones withdrawn?
        at_once: bool,
        /// For these algorithms.
        algorithms: Vec<SigningAlgorithm>,
    },
    /// Withdraws a signing key for good.
    WithdrawKey {
        /// Its id.
        kid: String,
    },
    /// Creates a key for the admin interface.
    CreateAdminKey {
        /// Its name.
        name: AdminKeyName,
        /// What it may do.
        scopes: AdminScopes,
        /// For how many seconds, if it ends.
        lives: Option<u32>,
    },
    /// Revokes a key of the admin interface.
    RevokeAdminKey {
        /// Its name. Names are given once.
        name: AdminKeyName,
    },
    /// Takes back a proposal of one's own.
    WithdrawProposal {
        /// Which one.
        proposal: GrantId,
    },
}

/// A user or a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A user, with every wallet of theirs.
    User(NamedUser),
    /// A wallet, whomever it belongs to, if anyone.
    Wallet(WalletAccount),
}

/// A user, and a wallet that people recognize them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUser {
    /// The user.
    pub id: UserId,
    /// Their oldest wallet. `None` until the user is looked up.
    pub wallet: Option<WalletAccount>,
}

impl From<UserId> for NamedUser {
    fn from(id: UserId) -> Self {
        Self { id, wallet: None }
    }
}

/// A client, and the name that people know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedClient {
    /// The client.
    pub id: ClientId,
    /// Its name. `None` until the client is looked up.
    pub name: Option<String>,
}

impl From<ClientId> for NamedClient {
    fn from(id: ClientId) -> Self {
        Self { id, name: None }
    }
}

/// A resource as an operator declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceWords {
    /// Its URI.
    pub uri: String,
    /// Which clients can name it.
    pub open_to: OpenTo,
    /// Its scopes.
    pub scopes: Vec<ResourceScope>,
}

/// The lines are not those of a change as this release writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are not the lines of a change")]
pub struct ChangeUnreadable;

/// What is known about the subject of a change that decides how many operators must sign it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight<'a> {
    /// The rule of clients that have none of their own.
    pub default_access: &'a AccessRule,
    /// Is the change about an operator? Whoever could block the others would be alone.
    pub is_about_operator: bool,
}

impl Change {
    /// The words that name changes in texts, in the order of [`Change`].
    pub const NAMES: &[&str] = &[
        "user-block",
        "wallet-block",
        "user-unblock",
        "wallet-unblock",
        "user-sign-out",
        "user-delete",
        "group-create",
        "group-retitle",
        "group-delete",
        "member-add",
        "member-remove",
        "client-register",
        "client-change",
        "client-delete",
        "client-rotate-secret",
        "client-open-resources",
        "client-close-resources",
        "client-access",
        "resource-create",
        "resource-update",
        "resource-delete",
        "keys-rotate",
        "key-withdraw",
        "admin-key-create",
        "admin-key-revoke",
        "proposal-withdraw",
    ];

    /// The word that names the change in its text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Block { who: Whom::User(_), .. } => "user-block",
            Self::Block { who: Whom::Wallet(_), .. } => "wallet-block",
            Self::Unblock { who: Whom::User(_) } => "user-unblock",
            Self::Unblock { who: Whom::Wallet(_) } => "wallet-unblock",
            Self::SignOut { .. } => "user-sign-out",
            Self::DeleteUser { .. } => "user-delete",
            Self::CreateGroup { .. } => "group-create",
            Self::RetitleGroup { .. } => "group-retitle",
            Self::DeleteGroup { .. } => "group-delete",
            Self::AddMember { .. } => "member-add",
            Self::RemoveMember { .. } => "member-remove",
            Self::RegisterClient { .. } => "client-register",
            Self::ChangeClient { .. } => "client-change",
            Self::DeleteClient { .. } => "client-delete",
            Self::RotateSecret { .. } => "client-rotate-secret",
            Self::OpenResources { .. } => "client-open-resources",
            Self::CloseResources { .. } => "client-close-resources",
            Self::SetAccess { .. } => "client-access",
            Self::CreateResource { .. } => "resource-create",
            Self::UpdateResource { .. } => "resource-update",
            Self::DeleteResource { .. } => "resource-delete",
            Self::RotateKeys { .. } => "keys-rotate",
            Self::WithdrawKey { .. } => "key-withdraw",
            Self::CreateAdminKey { .. } => "admin-key-create",
            Self::RevokeAdminKey { .. } => "admin-key-revoke",
            Self::WithdrawProposal { .. } => "proposal-withdraw",
        }
    }

    /// Must a second operator sign it? Those changes must that decide who the operators are, that lead around the
    /// desk, or that cannot be undone.
    pub fn needs_second(&self, policy: &DeskPolicy, weight: Weight<'_>) -> bool {
        match policy.quorum {
            Quorum::One => false,
            Quorum::Two => self.is_dangerous(policy, weight),
        }
    }

    fn is_dangerous(&self, policy: &DeskPolicy, weight: Weight<'_>) -> bool {
        match self {
            Self::DeleteUser { .. }
            | Self::DeleteClient { .. }
            | Self::RotateKeys { .. }
            | Self::WithdrawKey { .. }
            | Self::CreateAdminKey { .. }
            | Self::RevokeAdminKey { .. } => true,
            Self::Block { .. } | Self::Unblock { .. } => weight.is_about_operator,
            Self::AddMember { group, .. }
            | Self::RemoveMember { group, .. }
            | Self::DeleteGroup { group, .. }
            | Self::CreateGroup { group, .. } => policy.group.as_ref() == Some(group),
            Self::SetAccess { rule, .. } => {
                let rule = rule.as_ref().unwrap_or(weight.default_access);
                *rule == AccessRule::Everyone
            }
            Self::SignOut { .. }
            | Self::RetitleGroup { .. }
            | Self::RegisterClient { .. }
            | Self::ChangeClient { .. }
            | Self::RotateSecret { .. }
            | Self::OpenResources { .. }
            | Self::CloseResources { .. }
            | Self::CreateResource { .. }
            | Self::UpdateResource { .. }
            | Self::DeleteResource { .. }
            | Self::WithdrawProposal { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests;
