//! One user, many wallets.
//!
//! A user is created by the first login of a wallet. Later, more wallets can be linked, and all but the last
//! can be unlinked. The user's id never changes. At any time a wallet (family and address) belongs to at most
//! one user.
//!
//! Linking and unlinking name the user by the signer, a wallet of theirs that has just signed, and spend a challenge.
//! The ids of spent challenges are kept until their texts have expired; then [`Upkeep`](crate::Upkeep)
//! forgets them.

use countersign_domain::event::Event;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use time::OffsetDateTime;

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
    /// A user who has this many wallets, or more, gets no other one.
    pub most: u32,
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
    /// The user has as many wallets as a user may have. The wallet belongs to no one.
    TooMany,
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

/// That a wallet belongs to a user, or once did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The user, who need not exist any more.
    pub user: UserId,
    /// The wallet.
    pub wallet: WalletAccount,
    /// Does it belong to them now? Otherwise an event says that it did.
    pub is_now: bool,
}

/// Asks who has or had which wallets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindHoldings {
    /// What these users have or had.
    pub users: Vec<UserId>,
    /// Who has or had these wallets (family and address).
    pub wallets: Vec<WalletAccount>,
    /// The most holdings to read.
    pub limit: u32,
}

/// The chain of a wallet that was stored before chains were stored: Ethereum's main network for Ethereum. In
/// every other family the family's name is also the name of a chain.
pub fn chain_of_old_wallet(family: &str) -> String {
    if family == "eip155" { "eip155:1".to_owned() } else { family.to_owned() }
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
