//! Are two accounts one person's?
//!
//! They are if they have or ever had a wallet in common, or if a chain of accounts leads from one to the
//! other in which each has or had a wallet in common with the next (F-23). This is followed through
//! everything that is kept: what is linked now, and all events of linking and unlinking. If it cannot be
//! followed to its end, the answer is "unknown", and never that they are two.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{DirectStorage, FindHoldings, StoreError};

/// The most accounts and wallets that are followed. A person has a handful; with more, they cannot sign as
/// one of two until the events of the others are deleted.
const MOST: usize = 1_000;

/// Are two accounts one person's?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnePerson {
    /// Something leads from one to the other.
    Yes,
    /// Nothing does, and everything was looked at.
    No,
    /// Nothing that was looked at does, and not everything could be looked at.
    Unknown,
}

/// Accounts and wallets that belong together, with everything that leads on from them.
#[derive(Debug, Default)]
pub(crate) struct Circle {
    users: BTreeSet<UserId>,
    /// By family and address.
    wallets: BTreeMap<(String, String), WalletAccount>,
    /// Was everything followed?
    is_whole: bool,
}

impl Circle {
    /// Follows everything that leads on from these accounts and wallets.
    pub(crate) async fn around(
        storage: &dyn DirectStorage,
        users: Vec<UserId>,
        wallets: Vec<WalletAccount>,
    ) -> Result<Self, StoreError> {
        let mut circle = Self::default();
        let mut question = FindHoldings { users, wallets, limit: u32::try_from(MOST).unwrap_or(u32::MAX) };
        question.users.retain(|user| circle.users.insert(*user));
        question.wallets.retain(|wallet| circle.adds(wallet));
        let mut present = BTreeSet::new();
        while !(question.users.is_empty() && question.wallets.is_empty()) {
            let holdings = storage.find_holdings(question.clone()).await?;
            if holdings.len() >= MOST || circle.users.len() + circle.wallets.len() > MOST {
                return Ok(circle);
            }
            question = FindHoldings { users: Vec::new(), wallets: Vec::new(), ..question };
            for held in holdings {
                present.extend(held.is_now.then_some(held.user));
                if circle.users.insert(held.user) {
                    question.users.push(held.user);
                }
                if circle.adds(&held.wallet) {
                    question.wallets.push(held.wallet);
                }
            }
        }
        // Every user has a wallet. A user without one was deleted by an earlier release, together with the
        // wallet that they first came with.
        circle.is_whole = circle.users.iter().all(|user| present.contains(user));
        Ok(circle)
    }

    /// Returns whether the wallet was not in it.
    fn adds(&mut self, wallet: &WalletAccount) -> bool {
        self.wallets.insert(key_of(wallet), wallet.clone()).is_none()
    }

    /// Is this user in it?
    pub(crate) fn has(&self, user: UserId) -> bool {
        self.users.contains(&user)
    }

    /// All wallets in it.
    pub(crate) fn into_wallets(self) -> Vec<WalletAccount> {
        self.wallets.into_values().collect()
    }

    /// Is anything of the one in the other?
    pub(crate) fn meets(&self, other: &Self) -> OnePerson {
        if !self.users.is_disjoint(&other.users)
            || self.wallets.keys().any(|key| other.wallets.contains_key(key))
        {
            OnePerson::Yes
        } else if self.is_whole && other.is_whole {
            OnePerson::No
        } else {
            OnePerson::Unknown
        }
    }
}

/// What makes a wallet the same wallet ([`WalletAccount::is_same`]).
fn key_of(wallet: &WalletAccount) -> (String, String) {
    (wallet.family.clone(), wallet.address.clone())
}
