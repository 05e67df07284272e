//! What an operator sees of people.

use countersign_domain::admission::Block;
use countersign_domain::consent::Consent;
use countersign_domain::event::Event;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::UserId;
use countersign_domain::login_session::LoginSession;
use countersign_domain::person_name::PersonName;
use countersign_domain::subject::Subject;
use time::OffsetDateTime;

use crate::{BlockedWallet, LinkedWallet, Total};

/// Gives a user or a wallet a name, or takes it away.
#[derive(Clone, Debug)]
pub struct NameSubject {
    /// The user or wallet.
    pub who: Subject,
    /// The new name.
    pub name: Option<PersonName>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`NameSubject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePut {
    /// The name is stored, or is gone.
    Stored,
    /// It was so already. Nothing changed. A repeat of the same command gives this.
    AlreadySo,
    /// There is no such user. Nothing changed.
    UserUnknown,
}

/// What operators call a user or a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownName {
    /// The name.
    pub name: PersonName,
    /// Is it the user's or the wallet's own? Otherwise it comes from a wallet of the user, or from the user of the wallet.
    pub is_own: bool,
}

/// Which wallets are found by parts of their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindWallets {
    /// How the address begins.
    pub beginning: String,
    /// How it ends.
    pub end: String,
    /// How many are found at most.
    pub limit: u32,
}

/// A user or a wallet with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPerson {
    /// The user or wallet. The chain of a wallet is that of the command that named it first.
    pub who: Subject,
    /// Its name.
    pub name: PersonName,
}

/// Which users are listed: those that match both parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeopleFilter {
    /// Only users who are in this group, by whatever way.
    pub group: Option<GroupName>,
    /// Only blocked users. A block of one of their wallets does not count.
    pub blocked: bool,
}

/// A user in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonListed {
    /// The user's id.
    pub id: UserId,
    /// When the user was created.
    pub created_at: OffsetDateTime,
    /// When the user last signed in somewhere, by signing or by continuing: the latest `last_used_at` of the
    /// stored consents and sessions, expired ones included.
    pub last_sign_in_at: Option<OffsetDateTime>,
    /// The wallets, oldest link first, then by family and address in byte order.
    pub wallets: Vec<LinkedWallet>,
    /// The block of the user; a block of one of their wallets is none.
    pub block: Option<Block>,
}

/// Everything that an operator sees of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What a list shows.
    pub listed: PersonListed,
    /// The groups, in the order of [`GroupStore::memberships_of`](crate::GroupStore::memberships_of).
    pub memberships: Vec<Membership>,
    /// The blocks of single wallets of theirs, by family and address in byte order.
    pub blocked_wallets: Vec<BlockedWallet>,
    /// The sessions that have not expired, most recently used first, then by id.
    pub sessions: Vec<LoginSession>,
    /// What the user agreed to, most recently used first, then by client and terms.
    pub consents: Vec<Consent>,
}

/// When a user signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSeen {
    /// The user.
    pub user: UserId,
    /// When.
    pub at: OffsetDateTime,
}

/// What users are sorted by, the latest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeopleOrder {
    /// The last sign-in that [`note_sign_ins`](crate::PeopleStore::note_sign_ins) wrote down, or when the user was
    /// created.
    LastSeen,
    /// When the user was created.
    Created,
}

/// Which users are listed in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortPeople {
    /// Those that are asked for.
    pub filter: PeopleFilter,
    /// Their order.
    pub order: PeopleOrder,
    /// Where the page begins: after this place.
    pub after: Option<PersonPlace>,
    /// How many are listed at most.
    pub limit: u32,
}

/// Where a user is in a sorted list. Greater places come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PersonPlace {
    /// The time by which the list is sorted.
    pub at: OffsetDateTime,
    /// The user.
    pub user: UserId,
}

/// A page of a sorted list of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedPeople {
    /// The users.
    pub people: Vec<PersonListed>,
    /// Where the next page begins, if there can be one.
    pub next: Option<PersonPlace>,
    /// How many users match the filter.
    pub total: Total,
}
