//! Ethereum accounts that a key owns: EIP-55 addresses and EIP-191 `personal_sign`.
//!
//! Contract wallets (ERC-1271, ERC-6492) need a chain to be asked and are no part of this module: offline, their
//! signatures are refused like any others that do not fit.

mod address;
mod eip191;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};

pub(crate) use address::Address;
pub(crate) use eip191::digest as personal_sign_digest;

use eip191::{SIGNATURE_LENGTH, recover};

/// One user on every EVM chain.
const FAMILY: &str = "eip155";

/// The chain that the challenge names.
const CHAIN: &str = "eip155:1";

/// What the challenge calls these accounts.
const KIND: &str = "Ethereum";

/// Knows Ethereum accounts. Verification is pure arithmetic and runs where it is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct EthereumVerifier;

#[async_trait]
impl WalletVerifier for EthereumVerifier {
    /// Reads `0x` and forty hexadecimal digits: all lower, all upper, or mixed with the right EIP-55 checksum. Names,
    /// ICAP, CAIP-10 and the zero address are no addresses here.
    fn recognize(&self, address: &str) -> Option<RecognizedAccount> {
        let address = Address::parse(address)?.checksummed();
        let account = WalletAccount { family: FAMILY.to_owned(), chain: CHAIN.to_owned(), address };
        Some(RecognizedAccount { account, kind: KIND })
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(match judge(proof) {
            Ok(()) => Verdict::Valid,
            Err(reason) => Verdict::Invalid(reason),
        })
    }
}

fn judge(proof: &WalletProof) -> Result<(), &'static str> {
    let WalletAccount { family, chain, address } = &proof.account;
    if family != FAMILY || chain != CHAIN {
        return Err("the account is not of the Ethereum family");
    }
    let Some(claimed) = Address::parse(address).filter(|parsed| parsed.checksummed() == *address) else {
        return Err("the account's address is not in its canonical form");
    };
    let Some(signature) = signature_bytes(&proof.signature, SIGNATURE_LENGTH) else {
        return Err("it is not 65 bytes in hex, base64 or base64url");
    };
    let signer = recover(&personal_sign_digest(proof.text.as_bytes()), &signature)?;
    if !signer.is(&claimed) {
        return Err("it is another key's, or of another text");
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
