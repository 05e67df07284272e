//! A caller names an account: with its address alone, or with its chain.

use std::borrow::Cow;

use countersign_domain::wallet::{AccountKind, AccountName, ChainsDiffer};
use countersign_ports::{RecognizedAccount, WalletVerifier};

/// Why it is not clear which account is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecognizeError {
    /// No wallet family has addresses like this.
    #[error("wallet_address is not an address of a supported wallet")]
    AddressUnknown,
    /// A family knows the address, but not on the chain that was named.
    #[error("chain is not one that wallet_address can belong to here{}", or_one_of(.0))]
    ChainUnknown(Vec<NamedChain>),
    /// Several chains have addresses of this form.
    #[error("wallet_address could belong to several chains; name one in chain{}", or_one_of(.0))]
    Ambiguous(Vec<NamedChain>),
    /// No account of this kind can have such an address.
    #[error("kind is not one that wallet_address can be of: {} accounts have no such addresses", .0.name())]
    KindUnknown(AccountKind),
    /// On the chain that was named, a key's account and a contract may have this address.
    #[error(
        "kind is missing: on this chain wallet_address could be a key's account or a contract's; name one in kind: key, contract"
    )]
    KindMissing,
    /// Two chains were named.
    #[error(transparent)]
    ChainsDiffer(#[from] ChainsDiffer),
}

/// A chain that an address can belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedChain {
    /// Its CAIP-2 name.
    pub chain: String,
    /// What its accounts are called.
    pub kind: Cow<'static, str>,
}

fn or_one_of(chains: &[NamedChain]) -> String {
    let list: Vec<_> = chains.iter().map(|NamedChain { chain, kind }| format!("{chain} ({kind})")).collect();
    if list.is_empty() { String::new() } else { format!(": {}", list.join(", ")) }
}

/// Finds the one account that a caller means.
pub fn recognize_account(
    wallets: &dyn WalletVerifier,
    name: AccountName<'_>,
) -> Result<RecognizedAccount, RecognizeError> {
    let mut accounts = match name.kind {
        Some(kind) => wallets.recognize_as(kind, name.address, name.chain),
        None => wallets.recognize(name.address, name.chain),
    };
    if let (Some(kind), true) = (name.kind, accounts.is_empty())
        && !wallets.recognize(name.address, name.chain).is_empty()
    {
        return Err(RecognizeError::KindUnknown(kind));
    }
    match (accounts.pop(), accounts.as_slice(), name.chain) {
        (Some(only), [], _) => Ok(only),
        (Some(last), others, _) => Err(RecognizeError::Ambiguous(chains_of(others.iter().chain([&last])))),
        (None, _, Some(_)) => {
            let elsewhere = wallets.recognize(name.address, None);
            let found = chains_of(elsewhere.iter());
            Err(if found.is_empty() {
                RecognizeError::AddressUnknown
            } else {
                RecognizeError::ChainUnknown(found)
            })
        }
        (None, _, None) => Err(RecognizeError::AddressUnknown),
    }
}

/// Finds the one account that a caller means, where we must know before anyone signs whether it is a key or a
/// contract: the texts of a wallet change say so (F-15). An address alone is a key's, which is the same on
/// every chain. A person who names a chain on which we can ask contracts must say which of the two it is.
pub(crate) fn recognize_account_and_kind(
    wallets: &dyn WalletVerifier,
    name: AccountName<'_>,
) -> Result<RecognizedAccount, RecognizeError> {
    let found = recognize_account(wallets, name)?;
    let may_be_both = name.kind.is_none() && name.chain.is_some() && found.account.kind().is_some();
    if may_be_both && wallets.contract_chains().iter().any(|known| known.chain == found.account.chain) {
        return Err(RecognizeError::KindMissing);
    }
    Ok(found)
}

/// The chains of these accounts, for people to choose from.
pub(crate) fn chains_of<'a>(accounts: impl Iterator<Item = &'a RecognizedAccount>) -> Vec<NamedChain> {
    accounts
        .map(|found| NamedChain { chain: found.account.chain.clone(), kind: found.kind.clone() })
        .collect()
}
