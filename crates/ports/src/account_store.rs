//! What a person sees and changes of what is theirs: clients they agreed to, sessions, an e-mail address, the account itself.

use async_trait::async_trait;
use countersign_domain::consent::Consent;
use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::{LinkedWallet, StoreError};

/// Everything that is a user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// When the user was born.
    pub created_at: OffsetDateTime,
    /// As [`WalletStore::wallets_of`](crate::WalletStore::wallets_of) gives them.
    pub wallets: Vec<LinkedWallet>,
    /// What the user agreed to, the last used first, those of one moment by client and terms.
    pub consents: Vec<Consent>,
    /// The sessions, expired ones too while they are kept, the last used first, those of one moment by id.
    pub sessions: Vec<LoginSession>,
    /// The e-mail address.
    pub email: Option<UserEmail>,
}

/// Takes away all that a user agreed to at one client, at whichever terms, and revokes what was granted.
#[derive(Clone, Copy, Debug)]
pub struct RevokeConsent {
    /// Whose.
    pub user: UserId,
    /// Which client's.
    pub client: ClientId,
    /// Now.
    pub now: OffsetDateTime,
}

/// Puts an e-mail address on file.
#[derive(Clone, Debug)]
pub struct PutEmail {
    /// Whose.
    pub user: UserId,
    /// The address, not verified.
    pub address: EmailAddress,
    /// The link that will be mailed, if one will.
    pub confirmation: Option<EmailConfirmation>,
    /// May it take the place of an address that is on file? The same address again always may: it stays as verified as it
    /// was, and gets the new link if it was not.
    pub replace: bool,
    /// Now.
    pub now: OffsetDateTime,
}

/// What became of [`PutEmail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailPut {
    /// The address is on file, and is not verified.
    Stored,
    /// The address was on file and verified; nothing changed.
    AlreadyVerified,
    /// Another address is on file; nothing changed.
    OtherOnFile,
    /// There is no such user.
    UserUnknown,
}

/// Confirms an e-mail address.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmEmail {
    /// Whose.
    pub user: UserId,
    /// The hash of the link's secret, which must be the one on file: a link for an earlier address confirms nothing.
    pub hash: SecretHash,
    /// What if another user confirmed the same address?
    pub shared: SharedAddress,
    /// Now.
    pub now: OffsetDateTime,
}

/// What happens to an address that another user confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAddress {
    /// It is not confirmed.
    Refused,
    /// It is: the person was told and wants it. The other one keeps it.
    Agreed,
}

/// What became of [`ConfirmEmail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailConfirmed {
    /// The address is confirmed, and the link is used up.
    Confirmed,
    /// The link is not the one on file, or has expired; nothing changed.
    LinkInvalid,
    /// Another user confirmed the same address, in whatever letter case; nothing changed, and the link stays good.
    SharedAddress,
}

/// Deletes a user.
#[derive(Clone, Copy, Debug)]
pub struct DeleteAccount {
    /// Whom.
    pub user: UserId,
    /// Now.
    pub now: OffsetDateTime,
}

/// What a person sees and changes of what is theirs. Every write is durable before the answer.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// Reads what a user agreed to at one client: one consent for each of its terms, in their order.
    async fn consents_at(&self, user: UserId, client: ClientId) -> Result<Vec<Consent>, StoreError>;

    /// Reads everything that is a user's.
    async fn find_account(&self, user: UserId) -> Result<Option<Account>, StoreError>;

    /// Revokes all consents and every live grant of the user for this client, all or nothing, with the reason
    /// [`ConsentRevoked`]. The answer says whether there was a consent; grants without one are revoked too.
    ///
    /// [`ConsentRevoked`]: countersign_domain::grant::RevocationReason::ConsentRevoked
    async fn revoke_consent(&self, command: RevokeConsent) -> Result<bool, StoreError>;

    /// Reads the e-mail address of a user.
    async fn find_email(&self, user: UserId) -> Result<Option<UserEmail>, StoreError>;

    /// Puts an e-mail address on file.
    async fn put_email(&self, command: PutEmail) -> Result<EmailPut, StoreError>;

    /// Confirms the address on file. Guards: the hash is that of the link on file, which has not expired; and no other user has confirmed the
    /// same address, unless that is agreed to. Of two users who confirm one address at the same time, one is told of the other. The link is
    /// used up. Repeated after a lost answer, `find_email` tells.
    async fn confirm_email(&self, command: ConfirmEmail) -> Result<EmailConfirmed, StoreError>;

    /// Takes the e-mail address off file; the answer says whether one was there.
    async fn remove_email(&self, user: UserId) -> Result<bool, StoreError>;

    /// Deletes a user: wallets, consents, sessions and e-mail address, all or nothing; their wallets are nobody's then. Every live
    /// grant of theirs is revoked with the reason [`AccountDeleted`]. Its row stays until its time, because it is what makes its
    /// challenge a used one, but its wallet (family, chain and address) becomes empty texts and its nonce none. A login of one of
    /// the wallets comes wholly before, and goes too, or wholly after, and makes a new user. The answer says whether the user was
    /// there.
    ///
    /// [`AccountDeleted`]: countersign_domain::grant::RevocationReason::AccountDeleted
    async fn delete_account(&self, command: DeleteAccount) -> Result<bool, StoreError>;
}
