//! Wallets that sign: a new one for each user.

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_conformance::fakes::TestWallet;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A wallet of the Ethereum family.
pub struct Wallet(TestWallet);

impl Wallet {
    /// A wallet that is new in this run.
    pub fn fresh() -> Self {
        Self(TestWallet::from_seed(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The wallet of a seed, the same in each run. Fresh ones have small seeds.
    pub fn from_seed(seed: u64) -> Self {
        Self(TestWallet::from_seed(seed))
    }

    /// Its address, with the checksum of EIP-55.
    pub fn address(&self) -> String {
        self.0.address()
    }

    /// Its private key as `0x` and hex, for wallets of other people's code.
    pub fn private_key(&self) -> String {
        self.0.private_key()
    }

    /// Signs a text with `personal_sign`.
    pub fn sign(&self, text: &str) -> String {
        self.0.sign(text)
    }
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wallet({})", self.address())
    }
}
