//! What a run of files would change.

use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::declaration::{Declaration, DeclaredThing};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::Resource;
use countersign_domain::subject::Subject;

use super::FileSecret;

/// What happens to things that a file declared and no longer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// They are deleted.
    Delete,
    /// They stay.
    Keep,
}

/// What a run would change.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The changes: resources, groups, names of people and clients, each by name.
    pub changes: Vec<Change>,
    /// What a file once declared and no longer names, and stays.
    pub left: Vec<Declaration>,
    /// Declarations of things that are gone. They are forgotten, so that nothing of the same name is taken for
    /// them.
    pub(super) gone: Vec<DeclaredThing>,
}

/// One thing that changes.
#[derive(Clone, Debug)]
pub struct Change {
    /// The file that declares it, or once did.
    pub source: Arc<str>,
    /// The thing.
    pub thing: DeclaredThing,
    /// What becomes of it.
    pub what: What,
    /// Whose it was before.
    pub declared: DeclaredBefore,
}

/// Who declared a thing before this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredBefore {
    /// The same file.
    Here,
    /// Another file.
    Elsewhere(String),
    /// No file: it was made by a command, or is new.
    Nowhere,
}

/// What becomes of a thing.
#[derive(Clone, Debug)]
pub enum What {
    /// A client.
    Client(Box<PlannedClient>),
    /// A group.
    Group(PlannedGroup),
    /// A resource.
    Resource(PlannedResource),
    /// The name of a user or a wallet.
    Person(PlannedPerson),
}

/// What becomes of a client.
#[derive(Clone, Debug)]
pub enum PlannedClient {
    /// It is registered.
    Registered(NewState),
    /// It is as declared, or becomes so.
    Kept {
        /// As it is.
        before: Box<Client>,
        /// As it will be.
        now: NewState,
    },
    /// It is deleted, with everything that users allowed it.
    Deleted(Client),
}

/// A client as it will be.
#[derive(Clone, Debug)]
pub struct NewState {
    /// The client. If its secret changes, it has the old one here.
    pub client: Client,
    /// The registration as the file says it.
    pub(super) requested: RequestedMetadata,
    /// The secret that it gets.
    pub secret: NewSecret,
}

/// A client's secret in a plan.
#[derive(Clone, Debug)]
pub enum NewSecret {
    /// It stays as it is, or there is none.
    Same,
    /// The server makes one and shows it to no one.
    Unknown,
    /// It gets the one that the file points to.
    Given(FileSecret),
}

/// What becomes of a group.
#[derive(Clone, Debug)]
pub enum PlannedGroup {
    /// It is created.
    Created {
        /// Its name.
        name: GroupName,
        /// Its title.
        title: Option<GroupTitle>,
        /// Its members.
        members: Vec<Subject>,
    },
    /// It is as declared, or becomes so.
    Kept {
        /// Its name.
        name: GroupName,
        /// Its titles before and now, if it gets another.
        title: Option<(Option<GroupTitle>, Option<GroupTitle>)>,
        /// Who becomes a member.
        added: Vec<Subject>,
        /// Who no longer is one: the file named them once.
        removed: Vec<Subject>,
        /// Members who were there already, and that the file names now.
        adopted: Vec<Subject>,
    },
    /// It is deleted with its memberships.
    Deleted(GroupName),
}

/// What becomes of the name of a user or a wallet.
#[derive(Clone, Debug)]
pub struct PlannedPerson {
    /// The user or wallet.
    pub who: Subject,
    /// The name as it is.
    pub before: Option<PersonName>,
    /// The name as it will be.
    pub now: Option<PersonName>,
}

/// What becomes of a resource.
#[derive(Clone, Debug)]
pub enum PlannedResource {
    /// It is created.
    Created(Resource),
    /// It is as declared, or becomes so.
    Kept {
        /// As it is.
        before: Resource,
        /// As it will be.
        now: Resource,
    },
    /// It is deleted with its scopes.
    Deleted(Resource),
}

impl Plan {
    /// Is everything as declared?
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
