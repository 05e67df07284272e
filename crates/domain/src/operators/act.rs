//! An act: a change that an operator can make, from wherever. The command line, the admin interface, files and the
//! desk parse what they get into an act; the use-cases make it.
//!
//! The desk has acts signed, so each has words, and lines from which programs read it back. Those never differ between
//! releases: signatures are verified years later. [`ActName`] lists all acts with their names in each place.

mod act_event;
mod fields;
mod lines;
mod table;
mod text;
mod words;
pub mod written;

pub use act_event::ActEvent;
pub use fields::ActWriter;
use fields::{CHANGE, WITH};
pub use table::{ActField, ActName, ActOperation, ActRow, Second, Takes};
pub use words::spelled;

use crate::admin_key::{AdminKeyName, AdminScopes};
use crate::admission::{AccessRule, ClientAccess, Release};
use crate::client_change::FieldChange;
use crate::client_secrets::KeepOld;
use crate::desk::operators::{DeskPolicy, Quorum};
use crate::group::{GroupName, GroupTitle};
use crate::id::{ClientId, GrantId, InvitationId, UserId};
use crate::invitation::{InvitationLimits, Inviter};
use crate::person_name::PersonName;
use crate::registration::RequestedMetadata;
use crate::resource::{OpenTo, Resource, ResourceName, ResourceScope};
use crate::scope::ScopeName;
use crate::signing_algorithm::SigningAlgorithm;
use crate::subject::Subject;
use crate::wallet::WalletAccount;

/// Who uses what a change takes away. The operator who signs should know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedBy {
    /// How many clients.
    pub clients: u64,
    /// The names of the first ones.
    pub names: Vec<String>,
}

/// What an operator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Keeps a user or a wallet out.
    Block {
        /// The user or wallet.
        who: NamedSubject,
        /// Why, for operators.
        reason: Option<String>,
    },
    /// Lets a user or a wallet in again.
    Unblock {
        /// The user or wallet.
        who: NamedSubject,
    },
    /// Takes the desk away from an operator, at once.
    Suspend {
        /// The operator: a user, or a wallet that no one has signed in with.
        who: NamedSubject,
        /// Why, for operators.
        reason: Option<String>,
    },
    /// Gives the desk back to a suspended operator.
    Restore {
        /// The operator.
        who: NamedSubject,
    },
    /// Signs a user out everywhere.
    SignOut {
        /// The user.
        user: NamedUser,
        /// What becomes of offline access. `None` in a text of before 1.1, which did not say: it was kept.
        offline: Option<OfflineAccess>,
    },
    /// Gives a user or a wallet a name for operators, or takes it away.
    Name {
        /// The user or wallet.
        who: NamedSubject,
        /// Its name from now on.
        name: Option<PersonName>,
    },
    /// Deletes a user with everything that is theirs.
    DeleteUser {
        /// The user.
        user: NamedUser,
    },
    /// Creates a group.
    CreateGroup {
        /// Its name.
        group: GroupName,
        /// Its title.
        title: Option<GroupTitle>,
        /// Who is in it from the beginning.
        members: Vec<NamedSubject>,
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
        /// The scopes that only its members get.
        needed_by: Vec<ScopeName>,
    },
    /// Puts users and wallets into a group.
    AddMembers {
        /// Which group.
        group: GroupName,
        /// The users and wallets.
        members: Vec<NamedSubject>,
    },
    /// Takes users and wallets out of a group.
    RemoveMembers {
        /// Which group.
        group: GroupName,
        /// The users and wallets.
        members: Vec<NamedSubject>,
    },
    /// Creates an invitation into a group.
    CreateInvitation {
        /// Which group.
        group: GroupName,
        /// For how many people, and for how long.
        limits: InvitationLimits,
        /// What operators call the one who comes in.
        name: Option<PersonName>,
        /// Who invites.
        inviter: Option<Inviter>,
        /// The client that they go on to.
        client: Option<NamedClient>,
    },
    /// Revokes an invitation.
    RevokeInvitation {
        /// Which one.
        invitation: NamedInvitation,
    },
    /// Registers a client.
    RegisterClient {
        /// The id that it gets. `None` until the text is made.
        id: Option<ClientId>,
        /// What it registers.
        metadata: Box<RequestedMetadata>,
        /// The resources that are opened to it.
        resources: Vec<String>,
        /// What it has, field by field. Empty in the texts of releases that did not say it.
        fields: Vec<FieldChange>,
        /// Who can sign in to it. `None` if that was not said: the setting `default_access` decides.
        access: Option<ClientAccess>,
    },
    /// Replaces the metadata of a client.
    ChangeClient {
        /// Which one.
        client: NamedClient,
        /// What is registered from now on.
        metadata: Box<RequestedMetadata>,
        /// What changes, field by field. Empty in the texts of releases that did not say it.
        fields: Vec<FieldChange>,
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
    /// Decides who can sign in to a client.
    SetAccess {
        /// Which client.
        client: NamedClient,
        /// The rule; `None` to follow the setting `default_access`.
        rule: Option<AccessRule>,
        /// Which groups it gets; `None` if that stays.
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
    /// Ends a proposal of another operator, who reads why.
    RefuseProposal {
        /// Which one.
        proposal: GrantId,
        /// Why.
        reason: Option<String>,
    },
}

/// What becomes of access for when a person is away (`offline_access`) if they are signed out everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfflineAccess {
    /// It ends as well.
    Ended,
    /// It is kept, because an operator asked for that.
    Kept,
}

impl OfflineAccess {
    /// The word in texts, events and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Kept => "kept",
        }
    }

    /// Kept if an operator says so.
    pub const fn kept_if(is_kept: bool) -> Self {
        if is_kept { Self::Kept } else { Self::Ended }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Ended, Self::Kept].into_iter().find(|known| known.name() == word)
    }
}

/// A user or a wallet as texts name them: the user by a wallet too, and both by the names that operators gave them.
pub type NamedSubject = Subject<NamedUser, NamedWallet>;

impl From<NamedSubject> for Subject {
    fn from(named: NamedSubject) -> Self {
        match named {
            NamedSubject::User(user) => Self::User(user.id),
            NamedSubject::Wallet(wallet) => Self::Wallet(wallet.account),
        }
    }
}

impl From<Subject> for NamedSubject {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::User(user) => Self::User(user.into()),
            Subject::Wallet(wallet) => Self::Wallet(wallet.into()),
        }
    }
}

/// A user, and a wallet that people recognize them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUser {
    /// The user.
    pub id: UserId,
    /// Their oldest wallet. `None` until the user is looked up.
    pub wallet: Option<WalletAccount>,
    /// What operators call them. `None` until the user is looked up, or if they have no name.
    pub name: Option<PersonName>,
}

impl From<UserId> for NamedUser {
    fn from(id: UserId) -> Self {
        Self { id, wallet: None, name: None }
    }
}

/// A wallet, and what operators call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWallet {
    /// The wallet.
    pub account: WalletAccount,
    /// Its name. `None` until the wallet is looked up, or if it has none.
    pub name: Option<PersonName>,
}

impl From<WalletAccount> for NamedWallet {
    fn from(account: WalletAccount) -> Self {
        Self { account, name: None }
    }
}

/// A user or a wallet in an act, to be called by a name.
#[derive(Debug)]
pub enum NamedPerson<'a> {
    /// A user.
    User(&'a mut NamedUser),
    /// A wallet.
    Wallet(&'a mut NamedWallet),
}

impl<'a> From<&'a mut NamedSubject> for NamedPerson<'a> {
    fn from(who: &'a mut NamedSubject) -> Self {
        match who {
            Subject::User(user) => Self::User(user),
            Subject::Wallet(wallet) => Self::Wallet(wallet),
        }
    }
}

impl NamedPerson<'_> {
    /// Who it is.
    pub fn subject(&self) -> Subject {
        match self {
            Self::User(user) => Subject::User(user.id),
            Self::Wallet(wallet) => Subject::Wallet(wallet.account.clone()),
        }
    }

    /// Says what operators call them.
    pub fn call(&mut self, known: Option<PersonName>) {
        match self {
            Self::User(user) => user.name = known,
            Self::Wallet(wallet) => wallet.name = known,
        }
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

/// An invitation, and the group that it leads into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInvitation {
    /// The invitation.
    pub id: InvitationId,
    /// Its group. `None` until the invitation is looked up.
    pub group: Option<GroupName>,
}

impl From<InvitationId> for NamedInvitation {
    fn from(id: InvitationId) -> Self {
        Self { id, group: None }
    }
}

/// A resource as an operator declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceWords {
    /// Its URI.
    pub uri: String,
    /// What people read before the URI.
    pub name: Option<ResourceName>,
    /// Which clients can name it.
    pub open_to: OpenTo,
    /// Its scopes.
    pub scopes: Vec<ResourceScope>,
}

impl From<Resource> for ResourceWords {
    fn from(resource: Resource) -> Self {
        let Resource { uri, name, open_to, scopes, created_at: _ } = resource;
        Self { uri, name, open_to, scopes }
    }
}

/// The lines are not those of a change as this release writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are not the lines of a change")]
pub struct ActUnreadable;

/// What is known about the subject of a change that decides how many operators must sign it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight<'a> {
    /// The rule of clients that have none of their own.
    pub default_access: &'a AccessRule,
    /// Is the change about an operator? An operator who could block the others would be alone.
    pub is_about_operator: bool,
}

/// What an act is about. It is on the page of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic<'a> {
    /// A user.
    User(&'a NamedUser),
    /// A wallet.
    Wallet(&'a WalletAccount),
    /// A group.
    Group(&'a GroupName),
    /// An invitation.
    Invitation(InvitationId),
    /// A client that is about to be registered, perhaps with an id already.
    NewClient(Option<ClientId>),
    /// A client.
    Client(&'a NamedClient),
    /// A resource, by its URI.
    Resource(&'a str),
    /// All signing keys, or the one with this id.
    Keys(Option<&'a str>),
    /// A key of the admin interface.
    AdminKey(&'a AdminKeyName),
    /// A proposal.
    Proposal(GrantId),
}

impl Act {
    /// Its name.
    pub const fn name(&self) -> ActName {
        match self {
            Self::Block { who: Subject::User(_), .. } => ActName::BlockUser,
            Self::Block { who: Subject::Wallet(_), .. } => ActName::BlockWallet,
            Self::Unblock { who: Subject::User(_) } => ActName::UnblockUser,
            Self::Unblock { who: Subject::Wallet(_) } => ActName::UnblockWallet,
            Self::Suspend { .. } => ActName::SuspendOperator,
            Self::Restore { .. } => ActName::RestoreOperator,
            Self::SignOut { .. } => ActName::SignOut,
            Self::Name { who: Subject::User(_), .. } => ActName::NameUser,
            Self::Name { who: Subject::Wallet(_), .. } => ActName::NameWallet,
            Self::DeleteUser { .. } => ActName::DeleteUser,
            Self::CreateGroup { .. } => ActName::CreateGroup,
            Self::RetitleGroup { .. } => ActName::RetitleGroup,
            Self::DeleteGroup { .. } => ActName::DeleteGroup,
            Self::AddMembers { .. } => ActName::AddMembers,
            Self::RemoveMembers { .. } => ActName::RemoveMembers,
            Self::CreateInvitation { .. } => ActName::CreateInvitation,
            Self::RevokeInvitation { .. } => ActName::RevokeInvitation,
            Self::RegisterClient { .. } => ActName::RegisterClient,
            Self::ChangeClient { .. } => ActName::ChangeClient,
            Self::DeleteClient { .. } => ActName::DeleteClient,
            Self::RotateSecret { .. } => ActName::RotateSecret,
            Self::OpenResources { .. } => ActName::OpenResources,
            Self::CloseResources { .. } => ActName::CloseResources,
            Self::SetAccess { .. } => ActName::SetAccess,
            Self::CreateResource { .. } => ActName::CreateResource,
            Self::UpdateResource { .. } => ActName::UpdateResource,
            Self::DeleteResource { .. } => ActName::DeleteResource,
            Self::RotateKeys { .. } => ActName::RotateKeys,
            Self::WithdrawKey { .. } => ActName::WithdrawKey,
            Self::CreateAdminKey { .. } => ActName::CreateAdminKey,
            Self::RevokeAdminKey { .. } => ActName::RevokeAdminKey,
            Self::WithdrawProposal { .. } => ActName::WithdrawProposal,
            Self::RefuseProposal { .. } => ActName::RefuseProposal,
        }
    }

    /// What it is about.
    pub const fn about(&self) -> Topic<'_> {
        match self {
            Self::Block { who: Subject::User(user), .. }
            | Self::Unblock { who: Subject::User(user) }
            | Self::Suspend { who: Subject::User(user), .. }
            | Self::Restore { who: Subject::User(user) }
            | Self::Name { who: Subject::User(user), .. }
            | Self::SignOut { user, .. }
            | Self::DeleteUser { user } => Topic::User(user),
            Self::Block { who: Subject::Wallet(wallet), .. }
            | Self::Name { who: Subject::Wallet(wallet), .. }
            | Self::Suspend { who: Subject::Wallet(wallet), .. }
            | Self::Restore { who: Subject::Wallet(wallet) }
            | Self::Unblock { who: Subject::Wallet(wallet) } => Topic::Wallet(&wallet.account),
            Self::CreateGroup { group, .. }
            | Self::RetitleGroup { group, .. }
            | Self::DeleteGroup { group, .. }
            | Self::AddMembers { group, .. }
            | Self::RemoveMembers { group, .. }
            | Self::CreateInvitation { group, .. } => Topic::Group(group),
            Self::RevokeInvitation { invitation } => Topic::Invitation(invitation.id),
            Self::RegisterClient { id, .. } => Topic::NewClient(*id),
            Self::ChangeClient { client, .. }
            | Self::DeleteClient { client }
            | Self::RotateSecret { client, .. }
            | Self::OpenResources { client, .. }
            | Self::CloseResources { client, .. }
            | Self::SetAccess { client, .. } => Topic::Client(client),
            Self::CreateResource { resource } | Self::UpdateResource { resource, .. } => {
                Topic::Resource(resource.uri.as_str())
            }
            Self::DeleteResource { uri, .. } => Topic::Resource(uri.as_str()),
            Self::RotateKeys { .. } => Topic::Keys(None),
            Self::WithdrawKey { kid } => Topic::Keys(Some(kid.as_str())),
            Self::CreateAdminKey { name, .. } | Self::RevokeAdminKey { name } => Topic::AdminKey(name),
            Self::WithdrawProposal { proposal } | Self::RefuseProposal { proposal, .. } => {
                Topic::Proposal(*proposal)
            }
        }
    }

    /// What it says of the fields of a client.
    pub fn fields(&self) -> &[FieldChange] {
        if let Self::RegisterClient { fields, .. } | Self::ChangeClient { fields, .. } = self {
            fields
        } else {
            &[]
        }
    }

    /// The users and wallets of which it names any number.
    pub fn members(&self) -> &[NamedSubject] {
        if let Self::CreateGroup { members, .. }
        | Self::AddMembers { members, .. }
        | Self::RemoveMembers { members, .. } = self
        {
            members
        } else {
            &[]
        }
    }

    /// The people in it, so that its text can say what operators call them.
    pub fn people(&mut self) -> Vec<NamedPerson<'_>> {
        match self {
            Self::Block { who, .. }
            | Self::Unblock { who }
            | Self::Suspend { who, .. }
            | Self::Restore { who }
            | Self::Name { who, .. } => vec![who.into()],
            Self::SignOut { user, .. } | Self::DeleteUser { user } => vec![NamedPerson::User(user)],
            Self::CreateGroup { members, .. }
            | Self::AddMembers { members, .. }
            | Self::RemoveMembers { members, .. } => members.iter_mut().map(NamedPerson::from).collect(),
            Self::RetitleGroup { .. }
            | Self::DeleteGroup { .. }
            | Self::CreateInvitation { .. }
            | Self::RevokeInvitation { .. }
            | Self::RegisterClient { .. }
            | Self::ChangeClient { .. }
            | Self::DeleteClient { .. }
            | Self::RotateSecret { .. }
            | Self::OpenResources { .. }
            | Self::CloseResources { .. }
            | Self::SetAccess { .. }
            | Self::CreateResource { .. }
            | Self::UpdateResource { .. }
            | Self::DeleteResource { .. }
            | Self::RotateKeys { .. }
            | Self::WithdrawKey { .. }
            | Self::CreateAdminKey { .. }
            | Self::RevokeAdminKey { .. }
            | Self::WithdrawProposal { .. }
            | Self::RefuseProposal { .. } => Vec::new(),
        }
    }

    /// Does its text name someone that not all of its events are about? Then the text has an event of its own
    /// ([`EventKind::ChangeSigned`](crate::event::EventKind::ChangeSigned)).
    pub fn is_about_several(&self) -> bool {
        let alone = usize::from(!matches!(self, Self::CreateGroup { .. }));
        self.members().len() > alone
    }

    /// Must a second operator sign it?
    pub fn needs_second(&self, policy: &DeskPolicy, weight: Weight<'_>) -> bool {
        let name = self.name();
        let about = self.about();
        name.may_need_second(policy)
            && match name.row().second {
                Second::Never => false,
                Second::AboutOperator => weight.is_about_operator,
                Second::OperatorsGroup => {
                    policy.group.as_ref().is_some_and(|operators| about == Topic::Group(operators))
                }
                Second::LetsEveryoneIn => self.lets_everyone_in(weight.default_access),
                Second::Always => true,
            }
    }

    fn lets_everyone_in(&self, default_access: &AccessRule) -> bool {
        if let Self::RegisterClient { access: Some(ClientAccess { rule: Some(rule), .. }), .. } = self {
            return *rule == AccessRule::Everyone && *default_access != AccessRule::Everyone;
        }
        let Self::SetAccess { rule, .. } = self else { return false };
        *rule.as_ref().unwrap_or(default_access) == AccessRule::Everyone
    }
}

impl ActName {
    /// Is there anything about which a second operator must sign it?
    pub fn may_need_second(self, policy: &DeskPolicy) -> bool {
        match policy.quorum {
            Quorum::One => false,
            Quorum::Two => self.row().second != Second::Never,
        }
    }
}

#[cfg(test)]
mod tests;
