//! Accounts of Cosmos chains: bech32 addresses and signatures by ADR-036, which Keplr, Leap and others call
//! `signArbitrary`.
//!
//! Accounts with several keys (multisig), of modules and of contracts are not supported: the first would need
//! every member's key, and the others have no key.

mod address;
mod adr036;
mod answer;
mod chains;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{
    AddressHint, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError, WalletVerifier,
};
use subtle::Choice;

use super::secp256k1::{SCALARS_LENGTH, candidates};
use address::Address;
use chains::{CHAINS, Chain};

/// Verifies accounts of Cosmos chains. Verification is pure arithmetic and runs on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct CosmosVerifier;

/// The names of the kinds of account on these chains.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    CHAINS.iter().map(|chain| chain.kind)
}

#[async_trait]
impl WalletVerifier for CosmosVerifier {
    /// Reads bech32 in all lower case or all upper case: twenty bytes with the prefix of a chain that we
    /// know. The same key has an account on each chain. These are different accounts, because nothing on one
    /// chain proves that the other belongs to the same person.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let Some(address) = Address::parse(address) else {
            return Vec::new();
        };
        let known = CHAINS.iter().filter(|known| known.prefix == address.prefix());
        known
            .filter(|known| chain.is_none_or(|chain| chain == known.id))
            .map(|known| RecognizedAccount {
                account: account(&address, known),
                kind: known.kind.into(),
                chain_id: known.reference().to_owned(),
            })
            .collect()
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(Verdict::of(proof, judge(proof)))
    }

    fn page_modules(&self) -> Vec<PageModule> {
        vec![PageModule { name: "cosmos", source: include_str!("cosmos/page.js") }]
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        let look = "cosmos1, osmo1, celestia1, noble1 and the like, and 38 characters";
        vec![AddressHint { kind: "Cosmos".into(), look: look.into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        let Some(chain) = CHAINS.iter().find(|known| known.id == account.chain && known.id == account.family)
        else {
            return Vec::new();
        };
        [("Keplr", "keplr"), ("Leap", "leap")]
            .into_iter()
            .map(|(tool, object)| {
                let (reference, address) = (chain.reference(), &account.address);
                let how = format!(
                    "in the browser's console, the text between the backticks: copy(JSON.stringify(await \
                     {object}.signArbitrary(\"{reference}\", \"{address}\", `…`)))"
                );
                SigningHint { tool, how }
            })
            .collect()
    }
}

fn account(address: &Address, chain: &Chain) -> WalletAccount {
    WalletAccount {
        family: chain.id.to_owned(),
        chain: chain.id.to_owned(),
        address: address.canonical().to_owned(),
    }
}

fn judge(proof: &WalletProof) -> Result<(), &'static str> {
    let Some(chain) = CHAINS.iter().find(|known| known.id == proof.account.chain) else {
        return Err("the account is not on a Cosmos chain that we know");
    };
    let Some(claimed) = Address::parse(&proof.account.address)
        .filter(|parsed| parsed.prefix() == chain.prefix && account(parsed, chain) == proof.account)
    else {
        return Err("the account's address is not in its canonical form");
    };
    let signature = if proof.signature.starts_with('{') {
        answer::signature_in(&proof.signature, &claimed)?
    } else {
        signature_bytes(&proof.signature, SCALARS_LENGTH)
            .ok_or("it is neither 64 bytes in hex, base64 or base64url, nor a wallet's answer in JSON")?
    };
    let keys = candidates(&adr036::digest(claimed.canonical(), &proof.text), &signature)?;
    let is_the_holders = keys
        .iter()
        .flatten()
        .fold(Choice::from(0), |found, key| found | claimed.is_of_key(key.to_sec1_point(true).as_bytes()));
    if !bool::from(is_the_holders) {
        return Err("it was made by another key or for another text");
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
