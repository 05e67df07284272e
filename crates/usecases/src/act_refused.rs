//! Why an act is not made: one list for every use-case that operators have and for every front, with the words of each.

use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, InvitationId, UserId};
use countersign_domain::invitation::InvitationUnfit;
use countersign_domain::readable::NameRejected;
use countersign_domain::registration::RegistrationRejected;
use countersign_domain::resource::{MAX_RESOURCE_SCOPES, ResourceUnfit};
use countersign_domain::scope::ScopeName;
use countersign_domain::subject::Subject;
use countersign_ports::group_store::{MOST_COUNTED, counted as members_counted};
use countersign_ports::{CountedGroup, KeyRingError, ResourceUses, StoreError};

use crate::context::creating::MADE_BEFORE;

/// Where an operator asks for an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// The command line, and files.
    CommandLine,
    /// The admin interface.
    AdminInterface,
    /// The desk.
    Desk,
}

/// What a group is good for. Deleting the group takes this away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupUse {
    /// The group, with the number of its members.
    pub counted: CountedGroup,
    /// The clients whose rules name it. They keep their rules, and no one can sign in by this group any more.
    pub clients: Vec<Client>,
    /// Does the setting `default_access` name it?
    pub is_default: bool,
    /// The scopes of resources that need it. No one gets them any more.
    pub scopes: Vec<ScopeName>,
}

/// Why an act is not made.
#[derive(Debug, thiserror::Error)]
pub enum ActRefused {
    /// Everything is so already.
    #[error("nothing would change")]
    NoChange,
    /// There is no such user.
    #[error("there is no user {0}")]
    UserUnknown(UserId),
    /// There is no such user, who was to be a member of a group.
    #[error("there is no user {0}")]
    MemberUnknown(UserId),
    /// Who is to be suspended is not an operator.
    #[error("{0} is not an operator: neither `admins` nor `admin_group` names them")]
    NotOperator(Subject),
    /// The reason cannot be read.
    #[error("reason {0}")]
    Reason(NameRejected),
    /// There is no such group, or it is no longer as it was read.
    #[error("there is no group {0}")]
    GroupUnknown(GroupName),
    /// A rule or a release names a group that is not there.
    #[error("there is no group {0}")]
    NamedGroupUnknown(GroupName),
    /// There is a group of this name.
    #[error("there is a group {0} already")]
    GroupTaken(GroupName),
    /// A second operator must sign it, and it names several people.
    #[error("a second operator signs this: name one member at a time")]
    OneAtATime,
    /// The group has members, or a rule or a scope names it, and the operator did not say that this does not matter.
    #[error("{} is in use", .0.counted.group.name)]
    GroupInUse(Box<GroupUse>),
    /// The request made it before, and it is not there any more as it was made.
    #[error("{MADE_BEFORE}")]
    MadeBefore,
    /// The limits of the invitation are not allowed.
    #[error(transparent)]
    InvitationUnfit(InvitationUnfit),
    /// There is no such invitation.
    #[error("there is no invitation {0}")]
    InvitationUnknown(InvitationId),
    /// The invitation was revoked before.
    #[error("the invitation is revoked already")]
    InvitationRevoked,
    /// The invitation leads to a client that is not there.
    #[error("no client has the id {0}")]
    NamedClientUnknown(ClientId),
    /// The invitation leads to a client that does not let its group in.
    #[error("{client} does not let members of {group} in: `countersign access set` decides that")]
    LeadsNowhere {
        /// The name of the client.
        client: String,
        /// The group.
        group: GroupName,
    },
    /// There is no such client, or it is no longer as it was read.
    #[error("no client has the id {0}")]
    ClientUnknown(ClientId),
    /// Another client has the new id already.
    #[error("client id is taken")]
    ClientIdTaken,
    /// The client is what its document says.
    #[error("{0} describes this client: change that document")]
    Described(String),
    /// The metadata breaks a rule of registration.
    #[error("{0}")]
    Metadata(RegistrationRejected),
    /// The client has one kind of credential, and the metadata names another.
    #[error(
        "the authentication method cannot change between a secret, keys and none: register another client, \
         and delete this one"
    )]
    MethodChange,
    /// The client has no secret, because it is public or authenticates with keys.
    #[error("the client has no secret: it is public or proves itself with keys")]
    NoSecret,
    /// It cannot be opened to a client, because it cannot be a resource.
    #[error("{uri} is {unfit}")]
    NotOpened {
        /// The URI as it was given.
        uri: String,
        /// What is wrong with it.
        unfit: ResourceUnfit,
    },
    /// It cannot be opened to a client, because it is not declared.
    #[error("{0} is not declared: `countersign resource create` does that, or the setting `resources`")]
    NotDeclared(String),
    /// It cannot be a resource.
    #[error("{uri} is {unfit}")]
    ResourceUnfit {
        /// The URI as it was given.
        uri: String,
        /// What is wrong with it.
        unfit: ResourceUnfit,
    },
    /// The settings declare the resource already.
    #[error("the setting `resources` declares {0}: take it out there first")]
    InSettings(String),
    /// The resource was declared before.
    #[error("{0} is declared already: `countersign resource update` changes it")]
    ResourceTaken(String),
    /// There is no such resource, or it is no longer as it was read.
    #[error("no resource {0} is declared at the terminal")]
    ResourceUnknown(String),
    /// Another resource has a scope of this name.
    #[error("the scope {name} belongs to {owner}: names of scopes are unique among all resources")]
    ScopeTaken {
        /// The name.
        name: ScopeName,
        /// The other resource.
        owner: String,
    },
    /// There are more scopes than one resource can have.
    #[error("a resource has at most {MAX_RESOURCE_SCOPES} scopes")]
    TooManyScopes,
    /// Clients use what the resource would lose, and the operator did not say that this does not matter.
    #[error(
        "{} clients and {} live grants use what would be deleted: no token would be issued for it any more",
        .0.clients, .0.grants
    )]
    ResourceInUse(ResourceUses),
    /// The signing keys stay as they are.
    #[error(transparent)]
    Keys(KeyRingError),
    /// The front has not the keys that the act needs.
    #[error("the keys for this are not at hand here")]
    NoKeys,
    /// An admin key could do nothing.
    #[error("a key without a scope can do nothing")]
    NoScope,
    /// There is an admin key of this name, or there was one.
    #[error(
        "there is or was an admin key of this name: names say in the events who acted, so they are given once"
    )]
    AdminKeyTaken,
    /// No admin key has this name or this id.
    #[error("no admin key has the name or the id {0:?}")]
    AdminKeyUnknown(String),
    /// The admin key was revoked before.
    #[error("the admin key is revoked already")]
    AdminKeyRevoked,
    /// The proposal is not there, is over, or is another operator's.
    #[error("no proposal of yours that waits has this id")]
    NoSuchProposal,
    /// Its words do not fit into a text that wallets show.
    #[error("the change is too long to be signed: use the command line")]
    TooLong,
    /// It cannot be written in a text.
    #[error("the change cannot be written down")]
    Unwritable,
    /// The storage failed. The act may have been made.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ActRefused {
    /// What a front says of it.
    pub fn words(&self, front: Front) -> String {
        match (front, self) {
            (Front::AdminInterface | Front::Desk, Self::GroupTaken(_)) => {
                "there is a group of this name".to_owned()
            }
            (Front::CommandLine, Self::GroupInUse(found)) => format!(
                "{self}: {}. --force deletes it, and no one gets anything through it any more",
                found.in_words().join("; ")
            ),
            (Front::AdminInterface | Front::Desk, Self::GroupInUse(found)) => format!(
                "{self}: it has {} users and {} wallets, {} clients let its members in, {} scopes need it, and \
                 default_access {} it; force=true deletes it all the same",
                members_counted(found.counted.users),
                members_counted(found.counted.wallets),
                found.clients.len(),
                found.scopes.len(),
                if found.is_default { "names" } else { "does not name" },
            ),
            (Front::AdminInterface, Self::ClientUnknown(id)) => {
                format!("no client has the id {:?}", id.to_string())
            }
            (Front::AdminInterface | Front::Desk, Self::LeadsNowhere { client, group }) => {
                format!("{client} does not let members of {group} in")
            }
            (Front::Desk, Self::ClientUnknown(_)) => "no client has this id".to_owned(),
            (Front::Desk, Self::Metadata(_)) => format!("client metadata is refused: {self}"),
            (Front::Desk, Self::MethodChange) => {
                "the authentication method cannot change between a secret, keys and none".to_owned()
            }
            (Front::AdminInterface, Self::ResourceTaken(uri)) => format!("{uri} is declared already"),
            (Front::CommandLine | Front::Desk, Self::ResourceInUse(_)) => {
                format!("{self}. Add --force if that is meant")
            }
            (Front::AdminInterface, Self::ResourceInUse(_)) => {
                format!("{self}; force=true does it all the same")
            }
            (Front::AdminInterface, Self::Keys(KeyRingError::Unknown(_))) => {
                "no signing key has this id".to_owned()
            }
            (Front::AdminInterface, Self::Keys(KeyRingError::NextExist)) => {
                "the next keys already exist; now=true replaces all keys at once".to_owned()
            }
            (Front::AdminInterface, Self::Keys(KeyRingError::OnlyOne { algorithm, .. })) => {
                format!("it is the only key that can sign with {algorithm}: rotate with now=true replaces it")
            }
            (Front::Desk, Self::AdminKeyTaken) => "there is or was an admin key of this name".to_owned(),
            (Front::Desk, Self::AdminKeyUnknown(_)) => "no admin key has this name".to_owned(),
            (Front::CommandLine | Front::AdminInterface | Front::Desk, _) => self.to_string(),
        }
    }

    /// Is what the act is about not there, or no longer as it was read? An operator who read it before should read it
    /// again.
    pub const fn is_overtaken(&self) -> bool {
        match self {
            Self::UserUnknown(_)
            | Self::MemberUnknown(_)
            | Self::GroupUnknown(_)
            | Self::GroupTaken(_)
            | Self::GroupInUse(_)
            | Self::MadeBefore
            | Self::InvitationUnknown(_)
            | Self::InvitationRevoked
            | Self::ClientUnknown(_)
            | Self::ClientIdTaken
            | Self::ResourceTaken(_)
            | Self::ResourceUnknown(_)
            | Self::Keys(KeyRingError::RotatedMeanwhile(_) | KeyRingError::WithdrawnMeanwhile(_))
            | Self::AdminKeyTaken
            | Self::AdminKeyUnknown(_)
            | Self::AdminKeyRevoked
            | Self::NoSuchProposal => true,
            Self::NoChange
            | Self::OneAtATime
            | Self::Reason(_)
            | Self::NotOperator(_)
            | Self::NamedGroupUnknown(_)
            | Self::InvitationUnfit(_)
            | Self::NamedClientUnknown(_)
            | Self::LeadsNowhere { .. }
            | Self::Described(_)
            | Self::Metadata(_)
            | Self::MethodChange
            | Self::NoSecret
            | Self::NotOpened { .. }
            | Self::NotDeclared(_)
            | Self::ResourceUnfit { .. }
            | Self::InSettings(_)
            | Self::ScopeTaken { .. }
            | Self::TooManyScopes
            | Self::ResourceInUse(_)
            | Self::Keys(
                KeyRingError::NextExist
                | KeyRingError::Unknown(_)
                | KeyRingError::AlreadyWithdrawn(_)
                | KeyRingError::OnlyOne { .. }
                | KeyRingError::Unusable(_)
                | KeyRingError::Store(_),
            )
            | Self::NoKeys
            | Self::NoScope
            | Self::TooLong
            | Self::Unwritable
            | Self::Store(_) => false,
        }
    }
}

impl From<RegistrationRejected> for ActRefused {
    fn from(rejected: RegistrationRejected) -> Self {
        Self::Metadata(rejected)
    }
}

impl From<KeyRingError> for ActRefused {
    fn from(error: KeyRingError) -> Self {
        match error {
            KeyRingError::Store(error) => error.into(),
            refused @ (KeyRingError::RotatedMeanwhile(_)
            | KeyRingError::NextExist
            | KeyRingError::Unknown(_)
            | KeyRingError::AlreadyWithdrawn(_)
            | KeyRingError::OnlyOne { .. }
            | KeyRingError::WithdrawnMeanwhile(_)
            | KeyRingError::Unusable(_)) => Self::Keys(refused),
        }
    }
}

impl GroupUse {
    /// Would deleting the group take anything away?
    pub fn is_any(&self) -> bool {
        self.has_members() || !self.rules_in_words().is_empty()
    }

    /// What the group is good for, in words.
    pub fn in_words(&self) -> Vec<String> {
        let has = self.has_members().then(|| format!("it has {}", members_in_words(&self.counted)));
        has.into_iter().chain(self.rules_in_words()).collect()
    }

    /// What names the group, in words.
    pub fn rules_in_words(&self) -> Vec<String> {
        let mut rules = Vec::new();
        if !self.clients.is_empty() {
            let number = u64::try_from(self.clients.len()).unwrap_or(u64::MAX);
            let names =
                self.clients.iter().map(|client| format!("{} ({})", client.shown_name(), client.wire_id()));
            let names = names.collect::<Vec<_>>().join(", ");
            rules.push(format!("the rule of {} names it ({names})", count(number, "client")));
        }
        if self.is_default {
            rules.push("the setting default_access names it".to_owned());
        }
        if !self.scopes.is_empty() {
            let names: Vec<_> = self.scopes.iter().map(ScopeName::as_str).collect();
            rules.push(format!("scopes need it ({})", names.join(", ")));
        }
        rules
    }

    const fn has_members(&self) -> bool {
        self.counted.users > 0 || self.counted.wallets > 0
    }
}

/// The members of a group, in numbers.
pub fn members_in_words(counted: &CountedGroup) -> String {
    let some = |members, what| {
        if members > MOST_COUNTED {
            format!("more than {MOST_COUNTED} {what}s")
        } else {
            count(members, what)
        }
    };
    format!("{} and {}", some(counted.users, "user"), some(counted.wallets, "wallet"))
}

fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}
