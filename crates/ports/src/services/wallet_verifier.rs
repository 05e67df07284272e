//! Verifies that a wallet's holder signed a text, and describes what is special about each wallet family.

use std::borrow::Cow;

use async_trait::async_trait;
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};

use crate::VerifierError;

/// An account that an address can mean, and what a challenge calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedAccount {
    /// The account with its canonical address.
    pub account: WalletAccount,
    /// What the challenge calls such accounts, for example `Ethereum`.
    pub kind: Cow<'static, str>,
    /// What goes into the challenge's `Chain ID` line, in the form that the family's wallets expect, for
    /// example `1`.
    pub chain_id: String,
}

/// The verdict on a signature. The reason is for logs and terminals. Clients get the same answer whatever it
/// is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The holder of this account signed exactly the proof's text. The account is the proof's own, with one
    /// exception: if the proof names no kind and the account turns out to be another kind of wallet at the
    /// same address, the account's family is the chain's own. Such a wallet is a contract, whose owner can
    /// differ from chain to chain.
    Valid(WalletAccount),
    /// The signature is not valid. The text reads after "signature is not valid: ".
    Invalid(&'static str),
}

impl Verdict {
    /// The verdict of a family whose accounts are always exactly what the proof names.
    pub fn of(proof: &WalletProof, judged: Result<(), &'static str>) -> Self {
        match judged {
            Ok(()) => Self::Valid(proof.account.clone()),
            Err(reason) => Self::Invalid(reason),
        }
    }
}

/// A script for the sign-in page that finds the family's wallets in the browser and talks to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageModule {
    /// A short lower-case name, for example `ethereum`.
    pub name: &'static str,
    /// An ECMAScript module. `docs/adding-a-wallet-scheme.md` says what it must export.
    pub source: &'static str,
}

/// What a family's addresses look like, described for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressHint {
    /// The kind of account, for example `Ethereum`.
    pub kind: Cow<'static, str>,
    /// The form, for example `0x and 40 characters`.
    pub look: Cow<'static, str>,
}

/// How a person signs the text by hand, with a tool that is common in the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningHint {
    /// The tool, for example `Foundry`.
    pub tool: &'static str,
    /// The command, or the path through the menus. The text is in the file `sign-in.txt`.
    pub how: String,
}

/// A chain on which we can check the signatures of contract wallets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractChain {
    /// The chain's CAIP-2 id.
    pub chain: String,
    /// What people call the chain.
    pub name: Cow<'static, str>,
}

/// Handles one wallet family, or several. Total: no input makes it panic, and every input gets one correct
/// verdict.
#[async_trait]
pub trait WalletVerifier: Send + Sync {
    /// Reads an address as people write it, on the chain that they name by its CAIP-2 id, or on any chain if
    /// they name none. Returns every account that it can mean: none if this family has no such address, and
    /// several if several chains write their addresses alike. Two spellings of one account give equal
    /// accounts.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount>;

    /// The same for an account whose kind is known: a key, or a contract on its chain. Families without
    /// contracts have only keys.
    fn recognize_as(&self, kind: AccountKind, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        match kind {
            AccountKind::Key => self.recognize(address, chain),
            AccountKind::Contract => Vec::new(),
        }
    }

    /// Verifies a signature. Async, because some wallets are contracts and a chain must be asked about them.
    /// An error means that no verdict was possible, never that the signature is bad. If the proof names a
    /// kind, nothing else is tried: a key's account is never checked by the code at its address, nor a
    /// contract's by a key (F-15).
    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError>;

    /// The same for a caller who only wants to know the verdict and bases nothing on it. Families that ask a
    /// chain keep these requests apart, so that they take no capacity from people who sign in (F-16).
    async fn examine(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        self.verify(proof).await
    }

    /// The scripts for the sign-in page. Empty for families whose texts people sign by hand.
    fn page_modules(&self) -> Vec<PageModule> {
        Vec::new()
    }

    /// What the family's addresses look like.
    fn address_hints(&self) -> Vec<AddressHint> {
        Vec::new()
    }

    /// The chains whose contract wallets can sign in. On other chains only keys can.
    fn contract_chains(&self) -> Vec<ContractChain> {
        Vec::new()
    }

    /// How to sign by hand with this account.
    fn signing_hints(&self, _account: &WalletAccount) -> Vec<SigningHint> {
        Vec::new()
    }
}
