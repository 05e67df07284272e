//! Bitcoin and the coins that share its addresses and signed messages: BIP-137 for all of them, BIP-322 for
//! Bitcoin.
//!
//! A coin is data ([`Coin`]), and each coin has its own verifier. No chain is ever asked: the address, the
//! text and the signature decide everything.

mod address;
mod bip137;
mod bip322;
mod coin;
mod hints;
mod spending;

use async_trait::async_trait;
use countersign_domain::wallet::{WalletAccount, WalletProof, signature_bytes};
use countersign_ports::{
    AddressHint, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError, WalletVerifier,
};

pub use coin::{Coin, CoinRejected};

use address::Address;

/// Verifies accounts of one coin. Verification is pure arithmetic and runs on the caller's thread.
#[derive(Clone, Debug)]
pub struct CoinVerifier {
    coin: Coin,
}

impl CoinVerifier {
    /// Makes a verifier for this coin.
    pub fn new(coin: Coin) -> Self {
        Self { coin }
    }
}

#[async_trait]
impl WalletVerifier for CoinVerifier {
    /// Reads base58 and segwit addresses of this coin. An account belongs to its coin: the same key has a
    /// different account with every other coin (B-034).
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        if chain.is_some_and(|chain| chain != self.coin.chain()) {
            return Vec::new();
        }
        let Some(address) = Address::read(address, &self.coin, chain.is_some()) else {
            return Vec::new();
        };
        let account = WalletAccount {
            family: self.coin.chain().to_owned(),
            chain: self.coin.chain().to_owned(),
            address: address.canonical,
        };
        vec![RecognizedAccount {
            account,
            kind: self.coin.name().to_owned().into(),
            chain_id: self.coin.chain_reference().to_owned(),
        }]
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        Ok(Verdict::of(proof, judge(&self.coin, proof)))
    }

    /// Only Bitcoin's wallets have a script. None exists for the wallets of the other coins.
    fn page_modules(&self) -> Vec<PageModule> {
        if self.coin != Coin::bitcoin() {
            return Vec::new();
        }
        vec![PageModule { name: "bitcoin", source: include_str!("bitcoin/page.js") }]
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        vec![AddressHint { kind: self.coin.name().to_owned().into(), look: hints::look(&self.coin).into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        match canonical_address(&self.coin, account) {
            Ok(address) => hints::signing(&self.coin, &address.holder, &address.canonical),
            Err(_) => Vec::new(),
        }
    }
}

/// The forms of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form<'a> {
    /// BIP-137: 65 bytes.
    Compact(Vec<u8>),
    /// BIP-322, simple form: the base64 of a witness.
    Simple(&'a str),
    /// BIP-322, full form: the base64 of a transaction.
    Full(&'a str),
    /// BIP-322 with other coins as witnesses. It proves nothing more about who signs in (B-038).
    ProofOfFunds,
}

impl<'a> Form<'a> {
    /// Distinguishes the forms by prefix and length, never by trial.
    ///
    /// A text with one of BIP-322's prefixes has the form that the prefix names. No BIP-137 signature can
    /// begin like that: in base64 its header makes the first character a letter from G to K, and hex contains
    /// neither `s` nor `u` nor `o`. Without a prefix, 65 bytes in any of BIP-137's encodings are BIP-137,
    /// because every witness that wallets make is longer. Everything else is BIP-322's simple form, as the
    /// BIP allows to assume.
    fn of(signature: &'a str) -> Self {
        if let Some(witness) = signature.strip_prefix("smp") {
            return Self::Simple(witness);
        }
        if let Some(transaction) = signature.strip_prefix("ful") {
            return Self::Full(transaction);
        }
        if signature.starts_with("pof") {
            return Self::ProofOfFunds;
        }
        match signature_bytes(signature, bip137::SIGNATURE_LENGTH) {
            Some(bytes) => Self::Compact(bytes),
            None => Self::Simple(signature),
        }
    }
}

/// The address of an account, if recognizing the address gives exactly this account.
fn canonical_address(coin: &Coin, account: &WalletAccount) -> Result<Address, &'static str> {
    if account.family != coin.chain() || account.chain != coin.chain() {
        return Err("the account belongs to another coin");
    }
    Address::read(&account.address, coin, true)
        .filter(|address| address.canonical == account.address)
        .ok_or("the account's address is not in its canonical form")
}

fn judge(coin: &Coin, proof: &WalletProof) -> Result<(), &'static str> {
    let Address { holder, .. } = canonical_address(coin, &proof.account)?;
    let text = &proof.text;
    match Form::of(&proof.signature) {
        Form::Compact(bytes) => bip137::judge(&holder, bip137::digest(coin.magic(), text), &bytes),
        Form::Simple(_) | Form::Full(_) | Form::ProofOfFunds if !coin.signs_by_bip322() => {
            Err("it is not 65 bytes in hex, base64 or base64url, as BIP-137 requires")
        }
        Form::Simple(witness) => bip322::judge_simple(&holder, text, witness),
        Form::Full(transaction) => bip322::judge_full(&holder, text, transaction),
        Form::ProofOfFunds => Err("it is a proof of funds; BIP-322's simple or full form is enough"),
    }
}

#[cfg(test)]
mod accounts;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod signing;
#[cfg(test)]
mod vectors;
