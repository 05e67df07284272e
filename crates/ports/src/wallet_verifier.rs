//! Checking that the holder of a wallet signed a text.

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof};

use crate::VerifierError;

/// An address that some family recognizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedAccount {
    /// The account with its canonical address.
    pub account: WalletAccount,
    /// What the challenge calls such accounts, for example `Ethereum`.
    pub kind: &'static str,
}

/// The judgement on a signature. The reason is for logs and terminals; the outside hears one answer for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The holder of the account signed exactly this text.
    Valid,
    /// Something else; in words after "signature is not valid: ".
    Invalid(&'static str),
}

/// Knows one wallet family, or several. Total: no input makes it panic, and every input gets the one right verdict.
#[async_trait]
pub trait WalletVerifier: Send + Sync {
    /// Reads an address as people write it. `None`: no address of this family. Two spellings of one account give
    /// equal accounts.
    fn recognize(&self, address: &str) -> Option<RecognizedAccount>;

    /// Checks a signature. Async, because some wallets are contracts that a chain must be asked about. An error means that
    /// no verdict could be found, never that the signature is bad.
    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError>;
}
