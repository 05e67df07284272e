//! One user, many wallets.
//!
//! A user is created by the first login of a wallet. Later, more wallets can be linked, and all but the last
//! can be unlinked. The user's id never changes. At any time a wallet (family and address) belongs to at most
//! one user.
//!
//! Linking and unlinking name the user by the signer, a wallet of theirs that has just signed, and spend a challenge.
//! The ids of spent challenges are kept until their texts have expired; then [`Upkeep`](crate::Upkeep)
//! forgets them.

use async_trait::async_trait;
use countersign_domain::event::Event;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use time::OffsetDateTime;

use crate::StoreError;

/// Spends a challenge and links a wallet to the signer's user.
#[derive(Clone, Debug)]
pub struct LinkWallet {
    /// The challenge's id. No grant ever gets it.
    pub id: GrantId,
    /// A wallet of the user who asks.
    pub signer: WalletAccount,
    /// The wallet to link.
    pub wallet: WalletAccount,
    /// When the text that the signer signed was issued. It was issued for the user who owned the signer at
    /// that time.
    pub begun_at: OffsetDateTime,
    /// The time of the link.
    pub now: OffsetDateTime,
    /// When the spent id can be forgotten, because the challenge has expired.
    pub forget_after: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`LinkWallet`]. Every outcome but the first means that no wallet changed hands. The
/// challenge is spent in every case: it was judged, and the same texts must not be judged again in another
/// state (F-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletLinked {
    /// The wallet now belongs to the user.
    Linked {
        /// The user.
        user: UserId,
    },
    /// The wallet already belonged to the user.
    AlreadyTheirs {
        /// The user.
        user: UserId,
    },
    /// The wallet belongs to another user.
    BelongsToAnother,
    /// The signer belongs to no one, or came to this user after the text was issued.
    SignerUnknown,
    /// The signer's user, the signer or the wallet is blocked.
    Blocked,
    /// The challenge was already spent, possibly by this same command.
    ChallengeSpent,
}

/// Spends a challenge, unlinks a wallet from the signer's user, and revokes the grants made with it.
#[derive(Clone, Debug)]
pub struct UnlinkWallet {
    /// The challenge's id. No grant ever gets it.
    pub id: GrantId,
    /// A wallet of the user who asks. It can be the wallet to unlink.
    pub signer: WalletAccount,
    /// The wallet to unlink.
    pub wallet: WalletAccount,
    /// When the text that the signer signed was issued. It was issued for the user who owned the signer at
    /// that time.
    pub begun_at: OffsetDateTime,
    /// The time of the unlinking.
    pub now: OffsetDateTime,
    /// When the spent id can be forgotten, because the challenge has expired.
    pub forget_after: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`UnlinkWallet`]. Every outcome but the first means that no wallet changed hands. As with
/// [`WalletLinked`], the challenge is spent in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletUnlinked {
    /// The wallet belongs to no one now, and its grants are revoked.
    Unlinked {
        /// The user who had it.
        user: UserId,
    },
    /// The wallet does not belong to the user.
    NotTheirs,
    /// The user has no other wallet, and could never sign in again without this one.
    LastWallet,
    /// The signer belongs to no one, or came to this user after the text was issued.
    SignerUnknown,
    /// The signer's user, the signer, or the wallet is blocked. A wallet that is not theirs is `NotTheirs`
    /// whether it is blocked or not: a stranger must not learn it.
    Blocked,
    /// The challenge was already spent, possibly by this same command.
    ChallengeSpent,
}

/// A wallet that belongs to a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWallet {
    /// The account. Its chain is that of the wallet's first login, or of the command that linked it.
    pub account: WalletAccount,
    /// Since when it belongs to this user.
    pub linked_at: OffsetDateTime,
    /// What the user calls it. A stored name that is not readable counts as none.
    pub name: Option<WalletName>,
}

/// Gives a wallet of a user a name, or takes its name away.
#[derive(Clone, Debug)]
pub struct NameWallet {
    /// The user who asks.
    pub user: UserId,
    /// The wallet.
    pub wallet: WalletAccount,
    /// The new name. `None` takes the name away.
    pub name: Option<WalletName>,
}

/// The chain of a wallet that was stored before chains were stored: Ethereum's main network for Ethereum. In
/// every other family the family's name is also the name of a chain.
pub fn chain_of_old_wallet(family: &str) -> String {
    if family == "eip155" { "eip155:1".to_owned() } else { family.to_owned() }
}

/// One user, many wallets.
///
/// If several refusals apply, the outcome is the first in this order: the challenge is spent, the signer is
/// unknown, somebody is blocked, then those about the wallet. When unlinking, the block of a wallet counts only
/// if the wallet is the user's.
///
/// Linking and unlinking are an exception to the third rule of storage. Repeated after a lost answer they give
/// `ChallengeSpent`, because their effect can be undone in between, and a caller who presents a used
/// challenge must not be told that it worked. [`WalletStore::wallets_of`] tells whether it did.
#[async_trait]
pub trait WalletStore: Send + Sync {
    /// Spends the challenge and links a wallet. Guards: the challenge is unspent; the signer was a user's
    /// wallet when the text was issued and has been theirs since; neither the user nor one of the two wallets
    /// is blocked; the new wallet belongs to no one. A refusal by all but the first still spends the challenge.
    /// If the user or the signer is blocked at the same time, the link happens entirely before the block, or is
    /// refused. If several commands want the same wallet at once, including its first login, one of them gets
    /// it. Durable before the answer.
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError>;

    /// Spends the challenge and unlinks a wallet. Guards: the challenge is unspent; the signer was the user's
    /// when the text was issued and has been theirs since; neither the user nor one of the two wallets is
    /// blocked, because a blocked user must not free a wallet; the wallet is also theirs and not their last. A
    /// refusal by all but the first still spends the challenge. If the user or the signer is blocked at the same
    /// time, the unlinking happens entirely before the block, or is refused. Every grant of the user that was
    /// signed with this wallet is revoked with the reason [`WalletUnlinked`], and their sessions with this
    /// wallet end. A login of the wallet at the same time happens entirely before, and is revoked, or entirely
    /// after, and creates a new user. The wallet stays in the groups that it was put into. Durable before the
    /// answer.
    ///
    /// [`WalletUnlinked`]: countersign_domain::grant::RevocationReason::WalletUnlinked
    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError>;

    /// Finds the user whom a wallet belongs to, whatever its chain. `None` if it belongs to no one.
    async fn find_owner(&self, wallet: WalletAccount) -> Result<Option<UserId>, StoreError>;

    /// Names a wallet. Guard: the wallet (family and address) belongs to the user. The answer says whether it
    /// does. A link or a first login creates a wallet without a name, and unlinking forgets the name. Durable
    /// before the answer.
    async fn name_wallet(&self, command: NameWallet) -> Result<bool, StoreError>;

    /// Reads a user's wallets, oldest link first, then by family and address in byte order. A user who does
    /// not exist has none.
    async fn wallets_of(&self, user: UserId) -> Result<Vec<LinkedWallet>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_ethereum_wallet_is_on_the_main_network_and_others_on_their_familys_chain() {
        assert_eq!(chain_of_old_wallet("eip155"), "eip155:1");
        let bitcoin = "bip122:000000000019d6689c085ae165831e93";
        assert_eq!(chain_of_old_wallet(bitcoin), bitcoin);
    }
}
