//! What people see and change about their own data: consents, sessions, an e-mail address, and the account
//! itself.

use countersign_domain::checkpoint::{Digest256, HidingKey};
use countersign_domain::consent::Consent;
use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use countersign_domain::event::{Event, Pseudonym};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::LinkedWallet;

/// Everything that belongs to a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// When the user was created.
    pub created_at: OffsetDateTime,
    /// The wallets, in the order of [`WalletStore::wallets_of`](crate::WalletStore::wallets_of).
    pub wallets: Vec<LinkedWallet>,
    /// The user's consents, most recently used first, then by client and terms.
    pub consents: Vec<Consent>,
    /// The sessions, including expired ones that are still stored, most recently used first, then by id.
    pub sessions: Vec<LoginSession>,
    /// The e-mail address, if there is one.
    pub email: Option<UserEmail>,
}

/// Revokes everything that a user agreed to at one client, at any terms, and the grants that came from it.
#[derive(Clone, Debug)]
pub struct RevokeConsent {
    /// The user.
    pub user: UserId,
    /// The client.
    pub client: ClientId,
    /// The time of the revocation.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Stores a user's e-mail address.
#[derive(Clone, Debug)]
pub struct PutEmail {
    /// The user.
    pub user: UserId,
    /// The address, not yet verified.
    pub address: EmailAddress,
    /// The confirmation link to be mailed, if any.
    pub confirmation: Option<EmailConfirmation>,
    /// Can it replace another stored address? The same address can always be stored again: it stays verified
    /// if it was, and otherwise gets the new link.
    pub replace: bool,
    /// The time at which the address is stored.
    pub now: OffsetDateTime,
}

/// The outcome of [`PutEmail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailPut {
    /// The address is stored and not verified.
    Stored,
    /// The address was already stored and verified. Nothing changed.
    AlreadyVerified,
    /// Another address is stored. Nothing changed.
    OtherOnFile,
    /// There is no such user.
    UserUnknown,
}

/// Confirms an e-mail address.
#[derive(Clone, Debug)]
pub struct ConfirmEmail {
    /// The user.
    pub user: UserId,
    /// The hash of the link's secret. It must be the stored one: a link for an earlier address confirms
    /// nothing.
    pub hash: SecretHash,
    /// What to do if another user has confirmed the same address.
    pub shared: SharedAddress,
    /// The caller's time, which decides whether the link has expired.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// What happens if another user has confirmed the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAddress {
    /// The address is not confirmed.
    Refused,
    /// The address is confirmed: the person knows and wants it anyway. The other user keeps it too.
    Agreed,
}

/// The outcome of [`ConfirmEmail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailConfirmed {
    /// The address is confirmed, and the link is used up.
    Confirmed,
    /// The link is not the stored one, or has expired. Nothing changed.
    LinkInvalid,
    /// Another user has confirmed the same address, in any letter case. Nothing changed, and the link stays
    /// valid.
    SharedAddress,
}

/// Deletes a user.
#[derive(Clone, Debug)]
pub struct DeleteAccount {
    /// The user to delete.
    pub user: UserId,
    /// The time of the deletion.
    pub now: OffsetDateTime,
    /// What the user is called from now on in the events about them. Storage adds to the event `events`, how
    /// many got it.
    pub pseudonym: Pseudonym,
    /// The key of that pseudonym. Each sealed event that gets the pseudonym also gets the proof of this key
    /// ([`HidingKey::proof`]). The key itself is not stored.
    pub hiding: HidingKey,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// How many sealed events get the pseudonym of a deleted user in one step, so that others have their turn in between.
pub const EVENTS_A_STEP: u32 = 500;

/// Gives the pseudonym of a deleted user to sealed events that do not have it yet.
#[derive(Clone, Debug)]
pub struct ForgetEventsOf {
    /// The user who was deleted.
    pub user: UserId,
    /// The pseudonym.
    pub pseudonym: Pseudonym,
    /// Its key, as in [`DeleteAccount`].
    pub hiding: HidingKey,
}

/// A deleted user some of whose events do not have the pseudonym yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftToForget {
    /// The user.
    pub user: UserId,
    /// The pseudonym.
    pub pseudonym: Pseudonym,
    /// [`HidingKey::proof_of_user`], if the server wrote this down.
    pub proof: Digest256,
}
