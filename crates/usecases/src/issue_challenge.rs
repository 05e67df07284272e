//! The page asks for a text to sign: it is made, its fingerprint goes into the session, and nothing is written.

use countersign_domain::challenge::{ChallengeDigest, ChallengeText, IssuedChallenge};
use countersign_domain::id::GrantId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::EntropyExt;
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
}

/// Why there is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssueChallengeError {
    /// No family writes addresses like this.
    #[error("wallet_address is not an address of a supported wallet")]
    AddressUnknown,
}

/// Makes a challenge for an address and remembers its fingerprint.
pub fn issue_challenge(
    context: &Context,
    pending: &mut PendingAuthorization,
    wallet_address: &str,
) -> Result<Challenge, IssueChallengeError> {
    let now = context.clock.now();
    let recognized = context.wallets.recognize(wallet_address).ok_or(IssueChallengeError::AddressUnknown)?;
    let id = GrantId::at(now, context.entropy.bytes());
    let expires_at = now + context.policy.lifetimes.challenge;
    let text = ChallengeText {
        public_url: &context.policy.public_url,
        account: &recognized.account,
        account_kind: recognized.kind,
        redirect_uri: &pending.redirect_uri,
        client: pending.client,
        scope: pending.scope,
        nonce: context.entropy.bytes(),
        id,
        issued_at: now,
        expires_at,
    }
    .render();
    let digest = ChallengeDigest::of(&recognized.account, &text);
    let issued = IssuedChallenge { id, digest, expires_at, failures: 0 };
    pending.remember(issued);
    Ok(Challenge { text, account: recognized.account, expires_at, tries_left: issued.tries_left() })
}

/// Finds a challenge again by its text, if it may still be answered: a page without scripts shows it once more after a
/// signature that failed.
pub fn recall_challenge(
    context: &Context,
    pending: &PendingAuthorization,
    wallet_address: &str,
    text: &str,
) -> Option<Challenge> {
    let account = context.wallets.recognize(wallet_address)?.account;
    let issued = pending.challenge(&account, text).filter(|issued| issued.is_live(context.clock.now()))?;
    let (expires_at, tries_left) = (issued.expires_at, issued.tries_left());
    Some(Challenge { text: text.to_owned(), account, expires_at, tries_left })
}
