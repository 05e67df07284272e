//! The page asks for a text to sign: it is made, its fingerprint goes into the session, and nothing is written.

use std::borrow::Cow;

use countersign_domain::challenge::{ChallengeDigest, ChallengeText, IssuedChallenge, Purpose};
use countersign_domain::id::GrantId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::wallet::{AccountName, ChainsDiffer, WalletAccount};
use countersign_ports::{EntropyExt, RecognizedAccount, SigningHint};
use time::OffsetDateTime;

use crate::Context;

/// A text to sign.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// The exact text.
    pub text: String,
    /// For whom.
    pub account: WalletAccount,
    /// Until when.
    pub expires_at: OffsetDateTime,
    /// How many signatures may fail.
    pub tries_left: u8,
    /// How to sign by hand.
    pub signing_hints: Vec<SigningHint>,
}

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecognizeError {
    /// No family writes addresses like this.
    #[error("wallet_address is not an address of a supported wallet")]
    AddressUnknown,
    /// A family knows the address, but not on the chain that was named.
    #[error("chain is not one that wallet_address can belong to here{}", or_one_of(.0))]
    ChainUnknown(Vec<NamedChain>),
    /// Several chains write their addresses alike.
    #[error("wallet_address could belong to several chains; name one in chain{}", or_one_of(.0))]
    Ambiguous(Vec<NamedChain>),
    /// Two chains were named.
    #[error(transparent)]
    ChainsDiffer(#[from] ChainsDiffer),
}

/// A chain that an address can belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedChain {
    /// By CAIP-2.
    pub chain: String,
    /// What its accounts are called.
    pub kind: Cow<'static, str>,
}

fn or_one_of(chains: &[NamedChain]) -> String {
    let list: Vec<_> = chains.iter().map(|NamedChain { chain, kind }| format!("{chain} ({kind})")).collect();
    if list.is_empty() { String::new() } else { format!(": {}", list.join(", ")) }
}

/// Finds the one account that somebody means.
pub(crate) fn recognize_one(
    context: &Context,
    name: AccountName<'_>,
) -> Result<RecognizedAccount, RecognizeError> {
    let mut accounts = context.wallets.recognize(name.address, name.chain);
    match (accounts.pop(), accounts.as_slice(), name.chain) {
        (Some(only), [], _) => Ok(only),
        (Some(last), others, _) => Err(RecognizeError::Ambiguous(chains_of(others.iter().chain([&last])))),
        (None, _, Some(_)) => {
            let elsewhere = context.wallets.recognize(name.address, None);
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

fn chains_of<'a>(accounts: impl Iterator<Item = &'a RecognizedAccount>) -> Vec<NamedChain> {
    accounts
        .map(|found| NamedChain { chain: found.account.chain.clone(), kind: found.kind.clone() })
        .collect()
}

/// Makes a challenge for an account and remembers its fingerprint.
pub fn issue_challenge(
    context: &Context,
    pending: &mut PendingAuthorization,
    name: AccountName<'_>,
) -> Result<Challenge, RecognizeError> {
    let now = context.clock.now();
    let RecognizedAccount { account, kind, chain_id } = recognize_one(context, name)?;
    let id = GrantId::at(now, context.entropy.bytes());
    let expires_at = now + context.policy.lifetimes.challenge;
    let text = ChallengeText {
        public_url: &context.policy.public_url,
        account: &account,
        account_kind: &kind,
        chain_id: &chain_id,
        purpose: Purpose::SignIn {
            redirect_uri: &pending.redirect_uri,
            client: pending.client,
            scope: pending.scope,
        },
        nonce: context.entropy.bytes(),
        id,
        issued_at: now,
        expires_at,
    }
    .render();
    let digest = ChallengeDigest::of(&account, &text);
    let chain = name.chain.map(ToOwned::to_owned);
    let issued = IssuedChallenge { id, digest, expires_at, failures: 0, chain };
    let tries_left = issued.tries_left();
    pending.remember(issued);
    Ok(Challenge {
        text,
        expires_at,
        tries_left,
        signing_hints: context.wallets.signing_hints(&account),
        account,
    })
}

/// Finds a challenge again by its text, if it may still be answered: a page without scripts shows it once more after a
/// signature that failed.
pub fn recall_challenge(
    context: &Context,
    pending: &PendingAuthorization,
    wallet_address: &str,
    text: &str,
) -> Option<Challenge> {
    let name = AccountName::read(wallet_address, None).ok()?;
    let (issued, account) = find_issued(context, pending, name, text)?;
    issued.admit(context.clock.now()).ok()?;
    Some(Challenge {
        text: text.to_owned(),
        expires_at: issued.expires_at,
        tries_left: issued.tries_left(),
        signing_hints: context.wallets.signing_hints(&account),
        account,
    })
}

/// Finds the challenge with this text for the account that somebody names, live or not. A chain that is not named is the
/// one for which the challenge was asked.
pub(crate) fn find_issued<'a>(
    context: &Context,
    pending: &'a PendingAuthorization,
    name: AccountName<'_>,
    text: &str,
) -> Option<(&'a IssuedChallenge, WalletAccount)> {
    pending.challenge(text, |chain| {
        let recognized = context.wallets.recognize(name.address, name.chain.or(chain));
        recognized.into_iter().map(|recognized| recognized.account).collect()
    })
}
