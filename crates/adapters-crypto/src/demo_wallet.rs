//! A throw-away Ethereum wallet for people who have none at hand and want to try a sign-in from a terminal.
//!
//! **Never use it for money.** The key is in the memory of a command-line program, and possibly in the
//! history of a shell. It signs texts and cannot sign transactions.

use std::fmt;

use countersign_ports::{Entropy, EntropyExt};
use k256::ecdsa::SigningKey;
use sha2::{Digest, Sha256};

use crate::wallet::{Address, personal_sign_digest};

/// A key for trying out a sign-in. It signs texts as an Ethereum wallet would.
#[derive(Clone)]
pub struct DemoWallet {
    key: SigningKey,
}

impl DemoWallet {
    /// Makes a new wallet.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut seed: [u8; 32] = entropy.bytes();
        loop {
            // Nearly every seed is a valid key. Hashing the few others avoids a second draw.
            match Self::from_bytes(seed) {
                Some(wallet) => return wallet,
                None => seed = Sha256::digest(seed).into(),
            }
        }
    }

    /// Makes the wallet of a given key. Returns `None` for the few values that are not keys: zero, and
    /// everything from the order of the group up.
    pub fn from_bytes(key: [u8; 32]) -> Option<Self> {
        Some(Self { key: SigningKey::from_slice(&key).ok()? })
    }

    /// Returns the key, so that a later command can use the same wallet.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.key.to_bytes().into()
    }

    /// The address with its EIP-55 checksum.
    pub fn address(&self) -> String {
        Address::of_key(self.key.verifying_key()).checksummed()
    }

    /// Signs a text with `personal_sign`: 65 bytes in hex after `0x`, with recovery byte 27 or 28.
    pub fn sign(&self, text: &str) -> String {
        let (scalars, recovery) = self.key.sign_prehash_recoverable(&personal_sign_digest(text.as_bytes()));
        // The second bit of the recovery id would mean that r was reduced, which cannot be brought about.
        let recovery = 27 + u8::from(recovery.is_y_odd());
        format!("0x{}{recovery:02x}", hex::encode(scalars.to_bytes()))
    }
}

impl fmt::Debug for DemoWallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DemoWallet({})", self.address())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(0);
        }
    }

    #[test]
    fn the_wallet_signs_as_published_wallets_do() {
        // The example from the eth-account documentation. Its nonces follow RFC 6979, as ours do.
        let key = hex::decode("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318").unwrap();
        let wallet = DemoWallet::from_bytes(key.try_into().unwrap()).unwrap();
        let signature = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd\
                         6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c";
        assert_eq!(wallet.address(), "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23");
        assert_eq!(wallet.sign("Some data"), signature);
    }

    #[test]
    fn a_value_that_is_no_key_is_refused_and_entropy_that_draws_it_still_gives_a_wallet() {
        assert!(DemoWallet::from_bytes([0; 32]).is_none());
        assert!(DemoWallet::from_bytes([0xff; 32]).is_none());
        let wallet = DemoWallet::generate(&Zeros);
        assert_eq!(DemoWallet::from_bytes(wallet.to_bytes()).unwrap().address(), wallet.address());
    }

    #[test]
    fn a_wallet_never_prints_its_key() {
        let wallet = DemoWallet::generate(&Zeros);
        let shown = format!("{wallet:?}");
        assert!(shown.contains(&wallet.address()) && !shown.contains(&hex::encode(wallet.to_bytes())));
    }
}
