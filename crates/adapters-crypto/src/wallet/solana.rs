//! Solana accounts that have a key: base58 addresses, and Ed25519 signatures over the byte strings that
//! wallets make from a text.
//!
//! Nothing that a client sends decides what was signed: every byte string is built here from the text that we
//! issued (B-041). Accounts without a key (program-derived addresses, multisignature vaults) cannot sign in.

mod address;
mod signature;
mod signed_bytes;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{
    AddressHint, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError, WalletVerifier,
};

use address::Address;
use signed_bytes::Form;

/// The CAIP-2 id of the main network: the first 32 characters of its genesis hash. It is also the family,
/// because a key on another cluster is another account (CAIP-2 has no families besides `eip155`).
const CHAIN: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/// The name of the main network in the grammar of Sign-In With Solana. `solana:mainnet` is another form of it
/// (B-043).
const CHAIN_ID: &str = "mainnet";

/// The kind of account in the challenge.
const KIND: &str = "Solana";

/// Verifies Solana accounts of the main network. Verification is pure arithmetic and runs on the caller's
/// thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolanaVerifier;

#[async_trait]
impl WalletVerifier for SolanaVerifier {
    /// Reads a public key of 32 bytes in base58. There is no checksum: an address with a wrong character is
    /// someone else's account, or no one's.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        if chain.is_some_and(|chain| chain != CHAIN) || Address::parse(address).is_none() {
            return Vec::new();
        }
        // Base58 writes 32 bytes in one way only, so the given text is the canonical form.
        let account =
            WalletAccount { family: CHAIN.to_owned(), chain: CHAIN.to_owned(), address: address.to_owned() };
        vec![RecognizedAccount { account, kind: KIND.into(), chain_id: CHAIN_ID.to_owned() }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(Verdict::of(proof, judge(proof)))
    }

    fn page_modules(&self) -> Vec<PageModule> {
        vec![PageModule { name: "solana", source: include_str!("solana/page.js") }]
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        vec![AddressHint { kind: KIND.into(), look: "32 to 44 characters of base58".into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        if account.family != CHAIN {
            return Vec::new();
        }
        let how = "solana sign-offchain-message \"$(cat sign-in.txt)\"".to_owned();
        vec![SigningHint { tool: "Solana CLI", how }]
    }
}

fn judge(proof: &WalletProof) -> Result<(), &'static str> {
    let WalletAccount { family, chain, address } = &proof.account;
    if family != CHAIN || chain != CHAIN {
        return Err("the account is not of the Solana family");
    }
    let Some(address) = Address::parse(address) else {
        return Err("the account's address is not a public key");
    };
    let mut readings = signature::readings(&proof.signature).peekable();
    if readings.peek().is_none() {
        return Err("it is not 64 bytes in base58, base64, base64url or hex");
    }
    let signed = readings.any(|signature| {
        let bytes = |form: Form| form.bytes(&proof.text, address.as_bytes());
        Form::ALL.into_iter().filter_map(bytes).any(|bytes| address.signed(&bytes, &signature))
    });
    if !signed {
        return Err("it was made by another key or for another text");
    }
    Ok(())
}

/// Decodes exactly `N` bytes from base58. The caller has checked the length of the text.
fn base58<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let length = bs58::decode(text).onto(&mut bytes).ok()?;
    (length == N).then_some(bytes)
}

#[cfg(test)]
mod headers;
#[cfg(test)]
mod issued_texts;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
