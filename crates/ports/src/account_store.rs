//! What people see and change about their own data: consents, sessions, an e-mail address, and the account
//! itself.

use async_trait::async_trait;
use countersign_domain::consent::Consent;
use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use countersign_domain::event::{Event, Pseudonym};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::{LinkedWallet, StoreError};

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
    /// The address is confirmed: the person was told and wants it anyway. The other user keeps it too.
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
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// What people see and change about their own data. Every write is durable before the answer.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// Reads a user's consents for one client, one for each set of terms, in the order of the terms.
    async fn consents_at(&self, user: UserId, client: ClientId) -> Result<Vec<Consent>, StoreError>;

    /// Reads everything that belongs to a user.
    async fn find_account(&self, user: UserId) -> Result<Option<Account>, StoreError>;

    /// Revokes all consents and every live grant of the user for this client, atomically and with the reason
    /// [`ConsentRevoked`]. The answer says whether there was a consent. Grants without a consent are revoked
    /// too.
    ///
    /// [`ConsentRevoked`]: countersign_domain::grant::RevocationReason::ConsentRevoked
    async fn revoke_consent(&self, command: RevokeConsent) -> Result<bool, StoreError>;

    /// Reads a user's e-mail address.
    async fn find_email(&self, user: UserId) -> Result<Option<UserEmail>, StoreError>;

    /// Stores a user's e-mail address.
    async fn put_email(&self, command: PutEmail) -> Result<EmailPut, StoreError>;

    /// Confirms the stored address. Guards: the hash is that of the stored link, which has not expired; and
    /// no other user has confirmed the same address, unless `shared` allows it. If two users confirm the same
    /// address at the same time, one of them is told about the other. The link is used up. After a lost
    /// answer, `find_email` tells what happened.
    async fn confirm_email(&self, command: ConfirmEmail) -> Result<EmailConfirmed, StoreError>;

    /// Deletes a user's e-mail address. The answer says whether there was one.
    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError>;

    /// Deletes a user with their wallets, consents, sessions and e-mail address, atomically. The wallets then
    /// belong to no one. Every live grant of the user is revoked with the reason [`AccountDeleted`]. A
    /// grant's row stays until it can be forgotten, because it marks the challenge as used, but its wallet
    /// (family, chain and address) becomes empty texts and its nonce is removed. A login of one of the
    /// wallets at the same time happens entirely before, and is deleted too, or entirely after, and creates a
    /// new user. If the user is blocked, each of their wallets is blocked instead, with the same time and
    /// reason, so that deleting an account is no way around a block; a wallet that is blocked already keeps its
    /// own block. The wallets stay in the groups that they were put into. In every event about the user, fresh or
    /// sealed, the pseudonym replaces the user; wallet, address, salt and what operators signed are deleted. So are
    /// the proposals that the user signed, first or second. The answer says whether the user existed.
    ///
    /// [`AccountDeleted`]: countersign_domain::grant::RevocationReason::AccountDeleted
    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError>;
}
