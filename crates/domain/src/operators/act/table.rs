//! The one list of acts: everything that operators can do, with its name in each place.
//!
//! An act is in texts by its word, on the command line by its verb, and in the admin interface as an operation. Forms,
//! routes, scopes, events, log lines and the need for a second signature come from here too.

use std::fmt;

use super::Act;
use super::act_event::{self, ActEvent};
use crate::admin_key::AdminArea;
use crate::event::EventKind;

/// An act by its columns.
#[derive(Clone, Copy, Debug)]
pub struct ActRow {
    /// The word that names it in texts, events and forms. Signed texts have it, so it never changes.
    pub word: &'static str,
    /// The verb of the command line that does it; `None` if the command line cannot.
    pub verb: Option<&'static str>,
    /// The operation of the admin interface that does it; `None` if that cannot.
    pub operation: Option<ActOperation>,
    /// What an operator says of it, in the order of its lines. What is looked up is not here.
    pub fields: &'static [ActField],
    /// The kinds of its events. Not every act records one of each.
    pub events: &'static [EventKind],
    /// What its events say besides what it is about.
    pub(super) records: fn(&Act, &mut ActEvent),
    /// When a second operator must sign it.
    pub second: Second,
    /// What it takes away.
    pub takes: Takes,
    /// What the log says when a command did it.
    pub log: &'static str,
}

/// An operation of the admin interface. It needs the scope to write in its area.
#[derive(Clone, Copy, Debug)]
pub struct ActOperation {
    /// The method.
    pub method: &'static str,
    /// The path below that of the interface.
    pub path: &'static str,
    /// Its name in the description of the interface.
    pub id: &'static str,
    /// The area of its scope.
    pub area: AdminArea,
}

/// Something that an operator says of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActField {
    /// A user.
    User,
    /// A wallet.
    Wallet,
    /// An operator: a user or a wallet.
    Operator,
    /// What operators call a user or a wallet.
    PersonName,
    /// Why, for operators.
    Reason,
    /// Is offline access kept?
    KeepOffline,
    /// The name of a group that there will be.
    NewGroup,
    /// A group.
    Group,
    /// The group that gets or loses members.
    GroupOfMember,
    /// What operators call a group.
    GroupTitle,
    /// Users and wallets for a group, or in it.
    Members,
    /// The same for a group that there will be, if there are any.
    FirstMembers,
    /// An invitation.
    Invitation,
    /// For how many people an invitation is.
    Uses,
    /// How long an invitation is valid.
    InvitedFor,
    /// What operators call the one who comes in by an invitation.
    NameOfInvited,
    /// Who invites.
    Inviter,
    /// The client that those who are invited go on to.
    ClientOfInvited,
    /// A client.
    Client,
    /// All that a client registers, perhaps that of an application that is known.
    Registration,
    /// All that a client registers.
    Metadata,
    /// Resources, by their URIs.
    Resources,
    /// The same, if there are any.
    MoreResources,
    /// How long an old secret works on.
    KeepOld,
    /// Who can sign in to a client that there will be.
    NewRule,
    /// Who can sign in to a client.
    Rule,
    /// Which groups a client sees.
    Release,
    /// The URI of a resource that there will be.
    NewUri,
    /// The URI of a resource.
    Uri,
    /// What people read for a resource.
    ResourceName,
    /// Which clients can name a resource.
    OpenTo,
    /// The scopes of a resource.
    ResourceScopes,
    /// Which signing keys, and when they sign.
    Rotation,
    /// The id of a signing key.
    Kid,
    /// The name of an admin key that there will be.
    NewKeyName,
    /// The name of an admin key.
    KeyName,
    /// What an admin key can do.
    AdminScopes,
    /// For how long.
    Lives,
    /// A proposal.
    Proposal,
}

/// When a second operator must sign an act: if it decides who the operators are, leads around the desk, or cannot be
/// undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Never.
    Never,
    /// If it is about an operator. One who could block the others would be alone.
    AboutOperator,
    /// If it is about the group whose members are operators.
    OperatorsGroup,
    /// If it lets everyone in.
    LetsEveryoneIn,
    /// Always.
    Always,
}

/// What an act takes away from people. Its button says so by its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Something that people or clients have.
    Something,
    /// All of its subject, whose page is gone afterwards.
    Subject,
}

macro_rules! acts {
    ($(
        $(#[$doc:meta])*
        $name:ident = $word:literal {
            verb: $verb:expr,
            $(operation: ($method:ident $path:literal, $id:literal, $area:ident),)?
            fields: [$($field:ident),*],
            events: [$($event:ident),*],
            $(records: $records:ident,)?
            second: $second:ident,
            takes: $takes:ident,
            log: $log:literal,
        }
    )*) => {
        /// The name of an act.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ActName {
            $($(#[$doc])* $name,)*
        }

        impl ActName {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its columns.
            pub const fn row(self) -> &'static ActRow {
                match self {
                    $(Self::$name => &ActRow {
                        word: $word,
                        verb: $verb,
                        operation: acts!(@operation $($method $path, $id, $area)?),
                        fields: &[$(ActField::$field,)*],
                        events: &[$(EventKind::$event,)*],
                        records: acts!(@records $($records)?),
                        second: Second::$second,
                        takes: Takes::$takes,
                        log: $log,
                    },)*
                }
            }
        }
    };
    (@records) => { act_event::nothing_more };
    (@records $records:ident) => { act_event::$records };
    (@operation) => { None };
    (@operation $method:ident $path:literal, $id:literal, $area:ident) => {
        Some(ActOperation {
            method: stringify!($method),
            path: $path,
            id: $id,
            area: AdminArea::$area,
        })
    };
}

acts! {
    /// Keeps a user out.
    BlockUser = "user-block" {
        verb: Some("user block"),
        operation: (PUT "/users/{who}/block", "blockUser", Users),
        fields: [User, Reason],
        events: [UserBlocked], second: AboutOperator, takes: Something,
        log: "user blocked",
    }
    /// Keeps a wallet out.
    BlockWallet = "wallet-block" {
        verb: Some("wallet block"),
        operation: (PUT "/wallets/{who}/block", "blockWallet", Users),
        fields: [Wallet, Reason],
        events: [WalletBlocked], second: AboutOperator, takes: Something,
        log: "wallet blocked",
    }
    /// Lets a user in again.
    UnblockUser = "user-unblock" {
        verb: Some("user unblock"),
        operation: (DELETE "/users/{who}/block", "unblockUser", Users),
        fields: [User],
        events: [UserUnblocked], second: AboutOperator, takes: Nothing,
        log: "user unblocked",
    }
    /// Lets a wallet in again.
    UnblockWallet = "wallet-unblock" {
        verb: Some("wallet unblock"),
        operation: (DELETE "/wallets/{who}/block", "unblockWallet", Users),
        fields: [Wallet],
        events: [WalletUnblocked], second: AboutOperator, takes: Nothing,
        log: "wallet unblocked",
    }
    /// Takes the desk away from an operator. One signature is enough, so that two operators can part.
    SuspendOperator = "operator-suspend" {
        verb: Some("operator suspend"),
        operation: (PUT "/operators/{who}/suspension", "suspendOperator", Users),
        fields: [Operator, Reason],
        events: [OperatorSuspended], second: Never, takes: Something,
        log: "operator suspended",
    }
    /// Gives the desk back to a suspended operator.
    RestoreOperator = "operator-restore" {
        verb: Some("operator restore"),
        operation: (DELETE "/operators/{who}/suspension", "restoreOperator", Users),
        fields: [Operator],
        events: [OperatorRestored], second: Always, takes: Nothing,
        log: "operator restored",
    }
    /// Signs a user out everywhere.
    SignOut = "user-sign-out" {
        verb: Some("user sign-out"),
        operation: (POST "/users/{who}/sign-out", "signOutUser", Users),
        fields: [User, KeepOffline],
        events: [UserSignedOut], records: offline_access, second: Never, takes: Something,
        log: "user signed out",
    }
    /// Gives a user a name, or takes it away.
    NameUser = "user-name" {
        verb: Some("user name"),
        operation: (PUT "/users/{who}/name", "nameUser", Users),
        fields: [User, PersonName],
        events: [UserNamed], second: Never, takes: Nothing,
        log: "user named",
    }
    /// Gives a wallet a name, or takes it away.
    NameWallet = "wallet-name" {
        verb: Some("wallet name"),
        operation: (PUT "/wallets/{who}/name", "nameWallet", Users),
        fields: [Wallet, PersonName],
        events: [WalletNamed], second: Never, takes: Nothing,
        log: "wallet named",
    }
    /// Deletes a user.
    DeleteUser = "user-delete" {
        verb: Some("user delete"),
        operation: (DELETE "/users/{who}", "deleteUser", Users),
        fields: [User],
        events: [AccountDeleted], second: Always, takes: Subject,
        log: "user deleted",
    }
    /// Creates a group.
    CreateGroup = "group-create" {
        verb: Some("group create"),
        operation: (POST "/groups", "createGroup", Groups),
        fields: [NewGroup, GroupTitle, FirstMembers],
        events: [GroupCreated, GroupMemberAdded], second: OperatorsGroup, takes: Nothing,
        log: "group created",
    }
    /// Gives a group another title. No verb of the command line does it.
    RetitleGroup = "group-retitle" {
        verb: None,
        operation: (PATCH "/groups/{name}", "updateGroup", Groups),
        fields: [Group, GroupTitle],
        events: [GroupChanged], second: Never, takes: Nothing,
        log: "group got another title",
    }
    /// Deletes a group.
    DeleteGroup = "group-delete" {
        verb: Some("group delete"),
        operation: (DELETE "/groups/{name}", "deleteGroup", Groups),
        fields: [Group],
        events: [GroupDeleted], second: OperatorsGroup, takes: Subject,
        log: "group deleted",
    }
    /// Puts users and wallets into a group.
    AddMembers = "member-add" {
        verb: Some("group add"),
        operation: (POST "/groups/{name}/members/add", "addMembers", Groups),
        fields: [GroupOfMember, Members],
        events: [GroupMemberAdded], records: only_member, second: OperatorsGroup, takes: Nothing,
        log: "member added to group",
    }
    /// Takes users and wallets out of a group.
    RemoveMembers = "member-remove" {
        verb: Some("group remove"),
        operation: (POST "/groups/{name}/members/remove", "removeMembers", Groups),
        fields: [GroupOfMember, Members],
        events: [GroupMemberRemoved], records: only_member, second: OperatorsGroup, takes: Something,
        log: "member removed from group",
    }
    /// Creates an invitation into a group.
    CreateInvitation = "invitation-create" {
        verb: Some("invite create"),
        operation: (POST "/invitations", "createInvitation", Groups),
        fields: [GroupOfMember, Uses, InvitedFor, NameOfInvited, Inviter, ClientOfInvited],
        events: [InvitationCreated], records: invitation, second: OperatorsGroup, takes: Nothing,
        log: "invitation created",
    }
    /// Revokes an invitation.
    RevokeInvitation = "invitation-revoke" {
        verb: Some("invite revoke"),
        operation: (DELETE "/invitations/{invitation_id}", "revokeInvitation", Groups),
        fields: [Invitation],
        events: [InvitationRevoked], second: Never, takes: Something,
        log: "invitation revoked",
    }
    /// Registers a client.
    RegisterClient = "client-register" {
        verb: Some("client create"),
        operation: (POST "/clients", "createClient", Clients),
        fields: [Registration, MoreResources, NewRule],
        events: [ClientRegistered], records: registration, second: LetsEveryoneIn, takes: Nothing,
        log: "client registered",
    }
    /// Replaces the metadata of a client.
    ChangeClient = "client-change" {
        verb: Some("client update"),
        operation: (PATCH "/clients/{client_id}", "updateClient", Clients),
        fields: [Client, Metadata],
        events: [ClientChanged], second: Never, takes: Nothing,
        log: "client changed",
    }
    /// Deletes a client.
    DeleteClient = "client-delete" {
        verb: Some("client delete"),
        operation: (DELETE "/clients/{client_id}", "deleteClient", Clients),
        fields: [Client],
        events: [ClientDeleted], second: Always, takes: Subject,
        log: "client deleted",
    }
    /// Gives a client a new secret.
    RotateSecret = "client-rotate-secret" {
        verb: Some("client rotate-secret"),
        operation: (POST "/clients/{client_id}/secret", "rotateClientSecret", Clients),
        fields: [Client, KeepOld],
        events: [SecretRotated], second: Never, takes: Nothing,
        log: "client got a new secret",
    }
    /// Opens resources to a client.
    OpenResources = "client-open-resources" {
        verb: Some("client open-resource"),
        operation: (POST "/clients/{client_id}/resources/open", "openResources", Clients),
        fields: [Client, Resources],
        events: [ClientChanged], records: resources, second: Never, takes: Nothing,
        log: "resources opened to client",
    }
    /// Closes resources to a client.
    CloseResources = "client-close-resources" {
        verb: Some("client close-resource"),
        operation: (POST "/clients/{client_id}/resources/close", "closeResources", Clients),
        fields: [Client, Resources],
        events: [ClientChanged], records: resources, second: Never, takes: Something,
        log: "resources closed to client",
    }
    /// Decides who can sign in to a client.
    SetAccess = "client-access" {
        verb: Some("access set"),
        operation: (PUT "/clients/{client_id}/access", "setAccess", Clients),
        fields: [Client, Rule, Release],
        events: [AccessChanged], records: access, second: LetsEveryoneIn, takes: Nothing,
        log: "access to client changed",
    }
    /// Declares a resource.
    CreateResource = "resource-create" {
        verb: Some("resource create"),
        operation: (POST "/resources", "createResource", Clients),
        fields: [NewUri, ResourceName, OpenTo, ResourceScopes],
        events: [ResourceCreated], second: Never, takes: Nothing,
        log: "resource declared",
    }
    /// Changes a resource.
    UpdateResource = "resource-update" {
        verb: Some("resource update"),
        operation: (PUT "/resources/{uri}", "updateResource", Clients),
        fields: [Uri, ResourceName, OpenTo, ResourceScopes],
        events: [ResourceChanged], second: Never, takes: Nothing,
        log: "resource changed",
    }
    /// Deletes a resource.
    DeleteResource = "resource-delete" {
        verb: Some("resource delete"),
        operation: (DELETE "/resources/{uri}", "deleteResource", Clients),
        fields: [Uri],
        events: [ResourceDeleted], second: Never, takes: Subject,
        log: "resource deleted",
    }
    /// Makes new signing keys.
    RotateKeys = "keys-rotate" {
        verb: Some("key rotate"),
        operation: (POST "/keys/rotate", "rotateKeys", Keys),
        fields: [Rotation],
        events: [KeyAnnounced, KeyWithdrawn], records: only_announced, second: Always, takes: Nothing,
        log: "signing key made",
    }
    /// Withdraws a signing key for good.
    WithdrawKey = "key-withdraw" {
        verb: Some("key withdraw"),
        operation: (POST "/keys/{kid}/withdraw", "withdrawKey", Keys),
        fields: [Kid],
        events: [KeyWithdrawn], second: Always, takes: Something,
        log: "signing key withdrawn",
    }
    /// Creates a key for the admin interface. That interface cannot: a key could make one that may do more.
    CreateAdminKey = "admin-key-create" {
        verb: Some("admin-key create"),
        fields: [NewKeyName, AdminScopes, Lives],
        events: [AdminKeyCreated], records: scopes, second: Always, takes: Nothing,
        log: "admin key created",
    }
    /// Revokes a key of the admin interface.
    RevokeAdminKey = "admin-key-revoke" {
        verb: Some("admin-key revoke"),
        fields: [KeyName],
        events: [AdminKeyRevoked], second: Always, takes: Something,
        log: "admin key revoked",
    }
    /// Takes back an own proposal. Only the desk has proposals.
    WithdrawProposal = "proposal-withdraw" {
        verb: None,
        fields: [Proposal],
        events: [ChangeWithdrawn], second: Never, takes: Nothing,
        log: "proposal withdrawn",
    }
    /// Ends a proposal of another operator. Only the desk has proposals.
    RefuseProposal = "proposal-refuse" {
        verb: None,
        fields: [Proposal, Reason],
        events: [ChangeWithdrawn], second: Never, takes: Nothing,
        log: "proposal refused",
    }
}

impl ActName {
    /// The word that names it in texts, events and forms.
    pub const fn word(self) -> &'static str {
        self.row().word
    }

    /// The acts of which an operator says this first: what they are about.
    pub fn about(field: ActField) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |name| name.row().fields.first() == Some(&field))
    }

    /// Finds an act by its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.word() == word)
    }
}

/// The word.
impl fmt::Display for ActName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
