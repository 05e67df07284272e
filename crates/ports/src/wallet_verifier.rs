//! Checking that the holder of a wallet signed a text, and what a wallet family brings with it.

use std::borrow::Cow;

use async_trait::async_trait;
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};

use crate::VerifierError;

/// An account that an address may mean, and how a challenge speaks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedAccount {
    /// The account with its canonical address.
    pub account: WalletAccount,
    /// What the challenge calls such accounts, for example `Ethereum`.
    pub kind: Cow<'static, str>,
    /// How the challenge's line `Chain ID` names the chain: as the family's wallets expect it, for example `1`.
    pub chain_id: String,
}

/// The judgement on a signature. The reason is for logs and terminals; the outside hears one answer for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The holder of this account signed exactly the proof's text. It is the account of the proof; only where the proof names no
    /// kind, and its account turns out to be another kind of wallet at the same address (a contract, whose owner may differ on
    /// every chain), is its family the chain's own.
    Valid(WalletAccount),
    /// Something else; in words after "signature is not valid: ".
    Invalid(&'static str),
}

impl Verdict {
    /// The judgement of a family whose accounts are what they were asked for.
    pub fn of(proof: &WalletProof, judged: Result<(), &'static str>) -> Self {
        match judged {
            Ok(()) => Self::Valid(proof.account.clone()),
            Err(reason) => Self::Invalid(reason),
        }
    }
}

/// A script for the sign-in page that finds the family's wallets in the browser and speaks to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageModule {
    /// A short name in lower case, for example `ethereum`.
    pub name: &'static str,
    /// An ECMAScript module; docs/adding-a-wallet-scheme.md says what it exports.
    pub source: &'static str,
}

/// What addresses of a family look like, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressHint {
    /// The kind of account, for example `Ethereum`.
    pub kind: Cow<'static, str>,
    /// The look, for example `0x and 40 characters`.
    pub look: Cow<'static, str>,
}

/// How a person signs the text by hand, with a tool that the family's people have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningHint {
    /// The tool, for example `Foundry`.
    pub tool: &'static str,
    /// The command or the way through its menus. The text is in the file `sign-in.txt`.
    pub how: String,
}

/// A chain whose contract wallets can be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractChain {
    /// The chain by CAIP-2.
    pub chain: String,
    /// What people call it.
    pub name: Cow<'static, str>,
}

/// Knows one wallet family, or several. Total: no input makes it panic, and every input gets the one right verdict.
#[async_trait]
pub trait WalletVerifier: Send + Sync {
    /// Reads an address as people write it, on the chain that they name by CAIP-2, or on any when they name none. Gives
    /// every account that it may mean: nothing for what is no address of this family, and more than one where several chains
    /// write their addresses alike. Two spellings of one account give equal accounts.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount>;

    /// The same for an account of this kind, which was named: a key's, or a contract's on its chain. Families without contracts
    /// have keys only.
    fn recognize_as(&self, kind: AccountKind, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        match kind {
            AccountKind::Key => self.recognize(address, chain),
            AccountKind::Contract => Vec::new(),
        }
    }

    /// Checks a signature. Async, because some wallets are contracts that a chain must be asked about. An error means that
    /// no verdict could be found, never that the signature is bad. Where the proof names a kind, nothing else is tried: a key's
    /// account is never judged by the code at its address, nor a contract's by a key (F-15).
    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError>;

    /// The same for somebody who only wants to know, and for whom nothing depends on it. Families that ask others keep these
    /// questions apart, so that the curious take nothing from those who sign in (F-16).
    async fn examine(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        self.verify(proof).await
    }

    /// The scripts for the sign-in page; none for families that people sign for by hand.
    fn page_modules(&self) -> Vec<PageModule> {
        Vec::new()
    }

    /// What addresses look like.
    fn address_hints(&self) -> Vec<AddressHint> {
        Vec::new()
    }

    /// The chains whose contract wallets can sign in; elsewhere only keys can.
    fn contract_chains(&self) -> Vec<ContractChain> {
        Vec::new()
    }

    /// How to sign by hand with this account.
    fn signing_hints(&self, _account: &WalletAccount) -> Vec<SigningHint> {
        Vec::new()
    }
}
