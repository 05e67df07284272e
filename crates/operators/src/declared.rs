//! What files declare: clients, groups, resources and names of people, as an operator keeps them in a repository.
//!
//! A file is read elsewhere. Here it is compared with what is there, and the difference is carried out by the same
//! use-cases as a command. What was declared once is remembered, so that only that is ever pruned.

mod ahead;
pub mod apply;
mod carry_out;
pub mod export;
mod judge;
mod judge_clients;
pub mod make_plan;
mod members;
pub mod plan;
mod read_state;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use countersign_domain::admission::ClientAccess;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::person_name::PersonName;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::resource::{OpenTo, ResourceName, ResourceScope};
use countersign_domain::secret::Secret;
use countersign_domain::wallet::AccountKind;

/// What all the files of one run say.
#[derive(Clone, Debug, Default)]
pub struct DeclaredFiles {
    /// The paths of the files, also of those that say nothing.
    pub sources: Vec<Arc<str>>,
    /// The clients.
    pub clients: Vec<Item<FileClient>>,
    /// The groups.
    pub groups: Vec<Item<FileGroup>>,
    /// The resources.
    pub resources: Vec<Item<FileResource>>,
    /// The names of users and wallets.
    pub people: Vec<Item<FilePerson>>,
}

/// A thing in a file, with the places of its fields.
#[derive(Clone, Debug)]
pub struct Item<T> {
    /// Where it begins.
    pub at: Spot,
    /// Where its fields stand: by name, and those of a list also with their places in it, as in `users[0]`.
    pub fields: BTreeMap<String, Spot>,
    /// What is declared.
    pub value: T,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The path of the file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// Something in a file that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is.
    pub at: Spot,
    /// The field, with its table in front.
    pub field: String,
    /// What is wrong with it.
    pub what: String,
}

/// A client in a file. What the file does not say has its default.
#[derive(Clone, Debug)]
pub struct FileClient {
    /// Its id.
    pub id: ClientId,
    /// Was the id made from the name?
    pub is_derived: bool,
    /// Its registration.
    pub requested: RequestedMetadata,
    /// Who can sign in to it, and which groups it gets.
    pub access: ClientAccess,
    /// The resources that are open to it; `None` for those of its scopes.
    pub resources: Option<Vec<String>>,
    /// Its secret; `None` leaves the secret that it has.
    pub secret: Option<FileSecret>,
}

/// A client's secret that a file points to.
#[derive(Clone, Debug)]
pub struct FileSecret {
    /// The secret.
    pub secret: Secret,
    /// How long the one before it works on.
    pub keep_old: KeepOld,
}

/// A group in a file. It does not touch members that no file named.
#[derive(Clone, Debug)]
pub struct FileGroup {
    /// Its name.
    pub name: GroupName,
    /// What operators call it.
    pub title: Option<GroupTitle>,
    /// The users in it.
    pub users: Vec<UserId>,
    /// The wallets in it.
    pub wallets: Vec<FileWallet>,
}

/// A wallet in a file.
#[derive(Clone, Debug)]
pub struct FileWallet {
    /// Its address, or its account by CAIP-10.
    pub name: String,
    /// What is behind the address, if the file says so.
    pub kind: Option<AccountKind>,
}

/// A user or a wallet in a file, with its name for operators.
#[derive(Clone, Debug)]
pub struct FilePerson {
    /// The id of a user, or a wallet.
    pub who: FileWallet,
    /// The name.
    pub name: PersonName,
}

/// A resource in a file.
#[derive(Clone, Debug)]
pub struct FileResource {
    /// Its URI.
    pub uri: String,
    /// What people read before the URI.
    pub name: Option<ResourceName>,
    /// Which clients can name it.
    pub open_to: OpenTo,
    /// Its scopes, sorted by name.
    pub scopes: Vec<ResourceScope>,
}

impl<T> Item<T> {
    /// The place of a field; of its list if it is not known better; of the whole thing if the file does not
    /// have the field.
    pub fn spot(&self, field: &str) -> &Spot {
        let of_list = field.split('[').next().unwrap_or_default();
        self.fields.get(field).or_else(|| self.fields.get(of_list)).unwrap_or(&self.at)
    }

    /// A mistake in a field of this table.
    pub fn mistake(&self, table: &str, field: &str, what: impl fmt::Display) -> Mistake {
        Mistake { at: self.spot(field).clone(), field: format!("{table}.{field}"), what: what.to_string() }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.field, self.what)
    }
}
