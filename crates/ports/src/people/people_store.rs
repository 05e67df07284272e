//! What an operator sees of people.

use countersign_domain::admission::Block;
use countersign_domain::consent::Consent;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::UserId;
use countersign_domain::login_session::LoginSession;
use time::OffsetDateTime;

use crate::{BlockedWallet, LinkedWallet};

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
