//! One user, many wallets.
//!
//! A user is born with the first login of a wallet. Afterwards further wallets may be linked, and all but the last
//! unlinked; the user's id never changes. At any time a wallet (family and address) belongs to one user at the most.
//!
//! Both commands name the user by the signer, a wallet of theirs that signed just now, and spend a challenge. The ids of
//! spent challenges are kept until nobody can present their texts any more; [`Upkeep`](crate::Upkeep) forgets them.

use async_trait::async_trait;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::StoreError;

/// Spends a challenge and gives a wallet to the signer's user.
#[derive(Clone, Debug)]
pub struct LinkWallet {
    /// The challenge's id. It never becomes a grant's.
    pub id: GrantId,
    /// A wallet of the user who asks.
    pub signer: WalletAccount,
    /// The wallet to link.
    pub wallet: WalletAccount,
    /// When the text was issued that the signer signed. It was for the user whose wallet the signer was then.
    pub begun_at: OffsetDateTime,
    /// Now.
    pub now: OffsetDateTime,
    /// When the spent id may be forgotten: the challenge is not good any more.
    pub forget_after: OffsetDateTime,
}

/// What became of [`LinkWallet`]. Every answer but the first means that no wallet changed hands. Whatever the answer, the challenge
/// is spent now: it was judged, and the same texts again must not be judged in another state (F-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletLinked {
    /// The wallet is the user's.
    Linked {
        /// Whose.
        user: UserId,
    },
    /// The wallet was the user's before.
    AlreadyTheirs {
        /// Whose.
        user: UserId,
    },
    /// The wallet is another user's.
    BelongsToAnother,
    /// The signer is nobody's wallet, or became this user's after the text was issued.
    SignerUnknown,
    /// The challenge was spent before, be it by this very command.
    ChallengeSpent,
}

/// Spends a challenge, takes a wallet from the signer's user, and revokes what was granted with it.
#[derive(Clone, Debug)]
pub struct UnlinkWallet {
    /// The challenge's id. It never becomes a grant's.
    pub id: GrantId,
    /// A wallet of the user who asks; it may be the one that goes.
    pub signer: WalletAccount,
    /// The wallet to unlink.
    pub wallet: WalletAccount,
    /// When the text was issued that the signer signed. It was for the user whose wallet the signer was then.
    pub begun_at: OffsetDateTime,
    /// Now.
    pub now: OffsetDateTime,
    /// When the spent id may be forgotten: the challenge is not good any more.
    pub forget_after: OffsetDateTime,
}

/// What became of [`UnlinkWallet`]. Every answer but the first means that no wallet changed hands. As with [`WalletLinked`], the
/// challenge is spent whatever the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletUnlinked {
    /// The wallet is nobody's, and its grants are revoked.
    Unlinked {
        /// Whose it was.
        user: UserId,
    },
    /// The wallet is not the user's.
    NotTheirs,
    /// The user has no other wallet, and without one could never sign in again.
    LastWallet,
    /// The signer is nobody's wallet, or became this user's after the text was issued.
    SignerUnknown,
    /// The challenge was spent before, be it by this very command.
    ChallengeSpent,
}

/// A wallet of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWallet {
    /// The account, with the chain of its first login or of the command that linked it.
    pub account: WalletAccount,
    /// Since when it is this user's.
    pub linked_at: OffsetDateTime,
}

/// The chain of a wallet that was stored before chains were: Ethereum's main network, and elsewhere the family, which
/// names a chain in all of them.
pub fn chain_of_old_wallet(family: &str) -> String {
    if family == "eip155" { "eip155:1".to_owned() } else { family.to_owned() }
}

/// One user, many wallets.
///
/// Where several refusals are true, the answer is the first in this order: the challenge is spent, the signer is unknown,
/// and then what is said of the wallet.
///
/// These commands are the exception to the third rule of storage: repeated after a lost answer they say
/// `ChallengeSpent`, because their effect can be undone in between, and whoever presents a used challenge must not hear
/// that it worked. [`WalletStore::wallets_of`] tells whether it did.
#[async_trait]
pub trait WalletStore: Send + Sync {
    /// Spends the challenge and links a wallet. Guards: nobody has spent the challenge; the signer was a user's wallet when the text
    /// was issued and has been theirs since; the new wallet is nobody's. A refusal by the last two spends the challenge all the same. Of
    /// several who want one wallet at once, a first login of it among them, one gets it. Durable
    /// before the answer.
    async fn link_wallet(&self, command: LinkWallet) -> Result<WalletLinked, StoreError>;

    /// Spends the challenge and unlinks a wallet. Guards: nobody has spent the challenge; the signer was the user's when the text was
    /// issued and has been theirs since; the wallet is theirs too and not their last. A refusal by the last two spends the challenge all
    /// the same. Every grant of the user that was signed with this wallet is revoked with the reason
    /// [`WalletUnlinked`], and their sessions of this wallet end; a login of the wallet comes wholly before, and is revoked, or wholly after, and makes a new
    /// user. Durable before the answer.
    ///
    /// [`WalletUnlinked`]: countersign_domain::grant::RevocationReason::WalletUnlinked
    async fn unlink_wallet(&self, command: UnlinkWallet) -> Result<WalletUnlinked, StoreError>;

    /// Reads the wallets of a user, the oldest link first, those of one moment by family and address, byte for byte. A
    /// user whom nobody knows has none.
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
