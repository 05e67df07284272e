//! The page asks for a text to sign: it is made, and its fingerprint goes into the session. Nothing is
//! written to storage.

use countersign_domain::challenge::{ChallengeDigest, ChallengeText, IssuedChallenge};
use countersign_domain::id::GrantId;
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::wallet::{AccountName, WalletAccount};
use countersign_ports::{EntropyExt, RecognizedAccount, SigningHint};
use time::OffsetDateTime;

use crate::Context;
use crate::steps::recognize_account::{RecognizeError, recognize_account};

/// A text to sign.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// The exact text.
    pub text: String,
    /// The account that has to sign.
    pub account: WalletAccount,
    /// When it expires.
    pub expires_at: OffsetDateTime,
    /// How many more invalid signatures are allowed.
    pub tries_left: u8,
    /// How to sign by hand.
    pub signing_hints: Vec<SigningHint>,
}

/// Makes a challenge for an account and remembers its fingerprint.
pub fn issue_challenge(
    context: &Context,
    pending: &mut PendingAuthorization,
    name: AccountName<'_>,
) -> Result<Challenge, RecognizeError> {
    let now = context.clock.now();
    let RecognizedAccount { account, kind, chain_id } = recognize_account(&*context.wallets, name)?;
    let id = match &pending.requester {
        Requester::Device(device) => device.id,
        Requester::Client(_) | Requester::AccountPage { .. } => GrantId::at(now, context.entropy.bytes()),
    };
    let expires_at = now + context.policy.lifetimes.challenge;
    let text = ChallengeText {
        public_url: &context.policy.public_url,
        account: &account,
        account_kind: &kind,
        chain_id: &chain_id,
        signer_kind: name.kind,
        purpose: pending.purpose(),
        invitation: pending.invitation.as_ref(),
        key: &context.keys.texts,
        random: context.entropy.bytes(),
        id,
        issued_at: now,
        expires_at,
    }
    .render();
    let digest = ChallengeDigest::of(&account, &text);
    let kind = name.kind.filter(|_| account.kind().is_some());
    let chain = name.chain.map(ToOwned::to_owned);
    let issued = IssuedChallenge { id, digest, expires_at, failures: 0, chain, kind };
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

/// Finds a challenge again by its text, if it can still be answered. A page without scripts shows it once
/// more after an invalid signature.
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

/// Finds the challenge with this text for the account that the caller names, expired or not. If they name no
/// chain, it is the one that the challenge was issued for. Whether the account is a key or a contract was
/// said at that time.
pub(crate) fn find_issued<'a>(
    context: &Context,
    pending: &'a PendingAuthorization,
    name: AccountName<'_>,
    text: &str,
) -> Option<(&'a IssuedChallenge, WalletAccount)> {
    pending.challenge(text, |chain, kind| {
        let chain = name.chain.or(chain);
        let recognized = match kind {
            Some(kind) => context.wallets.recognize_as(kind, name.address, chain),
            None => context.wallets.recognize(name.address, chain),
        };
        recognized.into_iter().map(|recognized| recognized.account).collect()
    })
}
