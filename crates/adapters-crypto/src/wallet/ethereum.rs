//! Ethereum accounts that a key owns: EIP-55 addresses and EIP-191 `personal_sign`.
//!
//! Contract wallets (ERC-1271, ERC-6492) need a chain to be asked and are no part of this module: offline, their
//! signatures are refused like any others that do not fit.

mod address;
mod eip191;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{
    AddressHint, RecognizedAccount, SigningHint, Verdict, VerifierError, WalletVerifier,
};

pub(crate) use address::Address;
pub(crate) use eip191::digest as personal_sign_digest;

use eip191::{SIGNATURE_LENGTH, recover};

/// One user on every EVM chain.
const FAMILY: &str = "eip155";

/// The chain that the challenge names when nobody names one.
const USUAL_CHAIN: &str = "eip155:1";

/// What the challenge calls these accounts.
const KIND: &str = "Ethereum";

/// Knows Ethereum accounts. Verification is pure arithmetic and runs where it is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct EthereumVerifier;

#[async_trait]
impl WalletVerifier for EthereumVerifier {
    /// Reads `0x` and forty hexadecimal digits: all lower, all upper, or mixed with the right EIP-55 checksum. Names,
    /// ICAP and the zero address are no addresses here. Any EVM chain may be named; a key's account is the same on all.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let chain = chain.unwrap_or(USUAL_CHAIN);
        let (Some(address), Some(chain_id)) = (Address::parse(address), chain_id(chain)) else {
            return Vec::new();
        };
        let account = WalletAccount {
            family: FAMILY.to_owned(),
            chain: chain.to_owned(),
            address: address.checksummed(),
        };
        vec![RecognizedAccount { account, kind: KIND.into(), chain_id: chain_id.to_string() }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(match judge(proof) {
            Ok(()) => Verdict::Valid(proof.account.clone()),
            Err(reason) => Verdict::Invalid(reason),
        })
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        vec![AddressHint { kind: KIND.into(), look: "0x and 40 characters".into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        if account.family != FAMILY {
            return Vec::new();
        }
        let how = "cast wallet sign --interactive \"$(cat sign-in.txt)\"".to_owned();
        vec![SigningHint { tool: "Foundry", how }]
    }
}

/// The number of an EVM chain, from its one spelling by CAIP-2.
fn chain_id(chain: &str) -> Option<u64> {
    let reference = chain.strip_prefix("eip155:")?;
    let number: u64 = reference.parse().ok()?;
    (number > 0 && number.to_string() == reference).then_some(number)
}

fn judge(proof: &WalletProof) -> Result<(), &'static str> {
    let WalletAccount { family, chain, address } = &proof.account;
    if family != FAMILY || chain_id(chain).is_none() {
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
