//! Tron accounts that have a key: base58 addresses and TIP-191, which TronLink and tronweb call
//! `signMessageV2`.
//!
//! No chain is asked. Contracts have no key. An account whose owner has given permission to other keys on the
//! chain still signs in with the key that its address comes from.

mod address;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{
    AddressHint, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError, WalletVerifier,
};

use super::secp256k1::{RECOVERABLE_LENGTH, keccak_of_prefixed, recover};
use address::Address;

/// A key's address is the same on Tron's main and test networks.
const FAMILY: &str = "tron";

/// The main network: the last four bytes of its first block's hash, in decimal, as its CAIP-2 namespace
/// defines.
const CHAIN: &str = "tron:728126428";

/// The form of the main network that wallets wrote before the namespace was settled. Many still do.
const CHAIN_IN_HEX: &str = "tron:0x2b6653dc";

/// The chain ID in the challenge.
const CHAIN_ID: &str = "728126428";

/// The kind of account in the challenge.
const KIND: &str = "Tron";

/// The prefix before a text and its length when it is hashed.
const PREFIX: &str = "\x19TRON Signed Message:\n";

/// Verifies Tron accounts. Verification is pure arithmetic and runs on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct TronVerifier;

#[async_trait]
impl WalletVerifier for TronVerifier {
    /// Reads a T and 33 characters of base58 with the right checksum, on the main network, which has two
    /// names.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        if !matches!(chain, None | Some(CHAIN | CHAIN_IN_HEX)) || Address::parse(address).is_none() {
            return Vec::new();
        }
        let account =
            WalletAccount { family: FAMILY.to_owned(), chain: CHAIN.to_owned(), address: address.to_owned() };
        vec![RecognizedAccount { account, kind: KIND.into(), chain_id: CHAIN_ID.to_owned() }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(Verdict::of(proof, judge(proof)))
    }

    fn page_modules(&self) -> Vec<PageModule> {
        vec![PageModule { name: "tron", source: include_str!("tron/page.js") }]
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        vec![AddressHint { kind: KIND.into(), look: "T and 33 characters".into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        if account.family != FAMILY {
            return Vec::new();
        }
        let in_the_console = "in the browser's console, the text between the backticks: copy(await tronWeb.trx.signMessageV2(`…`))";
        let at_the_terminal = "read -rs PW; echo \"$PW\" | wallet-cli message sign --password-stdin \
                               --message \"$(cat sign-in.txt)\"";
        vec![
            SigningHint { tool: "TronLink", how: in_the_console.to_owned() },
            SigningHint { tool: "wallet-cli", how: at_the_terminal.to_owned() },
        ]
    }
}

fn judge(proof: &WalletProof) -> Result<(), &'static str> {
    let WalletAccount { family, chain, address } = &proof.account;
    if family != FAMILY || chain != CHAIN {
        return Err("the account is not of the Tron family");
    }
    let Some(claimed) = Address::parse(address) else {
        return Err("the account's address is not valid");
    };
    let Some(signature) = signature_bytes(&proof.signature, RECOVERABLE_LENGTH) else {
        return Err("it is not 65 bytes in hex, base64 or base64url");
    };
    let key = recover(&keccak_of_prefixed(PREFIX, proof.text.as_bytes()), &signature)?;
    if !Address::of_key(&key).is(&claimed) {
        return Err("it was made by another key or for another text");
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
