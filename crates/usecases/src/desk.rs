//! The desk: what operators read, and what they change by signing it.
//!
//! Reading needs a remembered sign-in of an operator. A change needs a text that names it, signed by a wallet of
//! that operator; then the same use-cases are called as by the command line and the admin interface, and their
//! events carry text and signature. What is dangerous waits for the signature of a second person where the
//! settings say so.

pub mod begin_change;
mod carry_out;
pub mod complete_change;
mod make_text;
pub mod overview;
pub mod proposals;
pub mod recognize_operator;
pub mod search;
mod subject;

use std::fmt;

use countersign_domain::desk::change::Change;
use countersign_domain::desk::pending::{Fact, FactName};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::readable::NameRejected;
use countersign_domain::registration::RegistrationRejected;
use countersign_ports::{KeyRing, KeyRingError};

use crate::clients::declare_resource::DeclareResourceError;
use crate::clients::open_resource::OpenResourceError;
use crate::context::cause::Cause;
use crate::{Context, Management};

/// What every use-case of the desk works with.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The ports and the policy.
    pub context: &'a Context,
    /// The signing keys.
    pub keys: &'a dyn KeyRing,
    /// Where the request comes from. A change is made by the wallet that signs it, whatever actor this names.
    pub cause: &'a Cause,
}

impl<'a> Desk<'a> {
    /// For reading.
    fn management(self) -> Management<'a> {
        self.context.management_for(self.cause)
    }
}

impl fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// The subject of a change is no longer as its operator read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// What is different. Empty if nothing about it can be told.
    pub changed: Vec<Changed>,
}

/// One thing about a subject that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// What it is about.
    pub name: FactName,
    /// As the operator read it, perhaps shortened. `None` if it was not so, or if only its mark is known.
    pub before: Option<String>,
    /// As it is now. `None` if it is not so any more.
    pub now: Option<String>,
}

impl Stale {
    /// Compares what was remembered with what is.
    fn between(before: &[Fact], now: &[Fact]) -> Self {
        let find = |facts: &[Fact], name: FactName| {
            facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone())
        };
        let is_new = |fact: &&Fact| before.iter().all(|before| before.name != fact.name);
        let names = before.iter().chain(now.iter().filter(is_new)).map(|fact| fact.name);
        let changed = names.filter_map(|name| {
            let (before, shown) = (find(before, name), find(now, name));
            let short = shown.as_ref().map(|value| Fact::new(name, value).shortened().value);
            (before != short).then_some(Changed { name, before, now: shown })
        });
        Self { changed: changed.collect() }
    }
}

/// Why a change is not possible, whoever signs it.
#[derive(Debug, thiserror::Error)]
pub enum ChangeRefused {
    /// Everything is so already.
    #[error("nothing would change")]
    NoChange,
    /// There is no such user.
    #[error("there is no user {0}")]
    UserUnknown(UserId),
    /// The reason cannot be read.
    #[error("reason {0}")]
    Reason(NameRejected),
    /// There is no such group.
    #[error("there is no group {0}")]
    GroupUnknown(GroupName),
    /// There is a group of this name.
    #[error("there is a group of this name")]
    GroupTaken,
    /// There is no such client.
    #[error("no client has this id")]
    ClientUnknown,
    /// The client is what its document says.
    #[error("{0} describes this client: change that document")]
    Described(String),
    /// The metadata breaks a rule of registration.
    #[error("client metadata is refused: {0}")]
    Metadata(RegistrationRejected),
    /// The client has one kind of credential, and the metadata names another.
    #[error("the authentication method cannot change between a secret, keys and none")]
    MethodChange,
    /// The client has no secret.
    #[error("the client has no secret: it is public or proves itself with keys")]
    NoSecret,
    /// A resource cannot be opened.
    #[error(transparent)]
    Opened(OpenResourceError),
    /// A resource cannot be declared, changed or deleted.
    #[error(transparent)]
    Resource(DeclareResourceError),
    /// The signing keys stay as they are.
    #[error(transparent)]
    Keys(KeyRingError),
    /// An admin key could do nothing.
    #[error("a key without a scope can do nothing")]
    NoScope,
    /// There is an admin key of this name, or there was one.
    #[error("there is or was an admin key of this name")]
    AdminKeyTaken,
    /// There is no such admin key.
    #[error("no admin key has this name")]
    AdminKeyUnknown,
    /// The admin key is revoked.
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
}

/// The change as it is read back from its own lines: what is judged is what the text will say.
fn normalized(change: &Change) -> Result<Change, ChangeRefused> {
    let lines = change.lines();
    let read = Change::from_lines(lines.iter().map(String::as_str));
    read.map_err(|_| ChangeRefused::Unwritable)
}
