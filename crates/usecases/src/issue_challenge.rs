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
    pending.remember(IssuedChallenge { id, digest, expires_at, failures: 0 });
    Ok(Challenge { text, account: recognized.account, expires_at })
}
