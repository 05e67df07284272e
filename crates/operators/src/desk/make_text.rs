//! The text of a change for one operator's wallet.

use countersign_domain::act::Act;
use countersign_domain::act::written::WrittenChange;
use countersign_domain::challenge::{ChallengeDigest, ChallengeText, IssuedChallenge, Purpose, fits};
use countersign_domain::desk::pending::{Fact, PendingChange};
use countersign_domain::id::GrantId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EntropyExt, RecognizedAccount, WalletVerifier};
use countersign_usecases::account::begin_wallet_change::TextToSign;
use countersign_usecases::act_refused::ActRefused;
use time::OffsetDateTime;

use super::Desk;

/// A change and its text.
#[derive(Clone, Debug)]
pub struct ChangeText {
    /// The change.
    pub change: Act,
    /// Must a second operator sign it too?
    pub needs_second: bool,
    /// The wallet that is to sign.
    pub signer: WalletAccount,
    /// What it signs.
    pub text: TextToSign,
    /// When the text expires.
    pub expires_at: OffsetDateTime,
}

/// What a text is made of.
pub(super) struct Making {
    pub(super) id: GrantId,
    pub(super) written: WrittenChange,
    pub(super) facts: Vec<Fact>,
    pub(super) needs_second: bool,
    pub(super) signer: WalletAccount,
}

pub(super) fn make_text(
    desk: Desk<'_>,
    now: OffsetDateTime,
    making: Making,
) -> Result<(PendingChange, ChangeText), ActRefused> {
    let context = desk.context;
    let Making { id, written, facts, needs_second, signer } = making;
    let words = written.words();
    let purpose = Purpose::Change { words: &words };
    if !fits(&context.policy.public_url, purpose) {
        return Err(ActRefused::TooLong);
    }
    let expires_at = now + context.policy.lifetimes.challenge;
    let recognized = recognize(&*context.wallets, &signer).ok_or(ActRefused::Unwritable)?;
    let text = ChallengeText {
        public_url: &context.policy.public_url,
        account: &signer,
        account_kind: &recognized.kind,
        chain_id: &recognized.chain_id,
        signer_kind: signer.kind(),
        purpose,
        invitation: None,
        key: &context.keys.texts,
        random: context.entropy.bytes(),
        id,
        issued_at: now,
        expires_at,
    }
    .render();
    let digest = ChallengeDigest::of(&signer, &text);
    let pending = PendingChange {
        challenge: IssuedChallenge { id, digest, expires_at, failures: 0, chain: None, kind: None },
        signer: signer.clone(),
        proposal: written.proposal,
        needs_second,
        seen: facts.iter().map(Fact::shortened).collect(),
    };
    let signing_hints = context.wallets.signing_hints(&signer);
    let text = TextToSign { text, signing_hints };
    let shown = ChangeText { change: written.change, needs_second, signer, text, expires_at };
    Ok((pending, shown))
}

/// What the family of a known account calls it in texts.
pub(super) fn recognize(wallets: &dyn WalletVerifier, account: &WalletAccount) -> Option<RecognizedAccount> {
    let (address, chain) = (account.address.as_str(), Some(account.chain.as_str()));
    let found = match account.kind() {
        Some(kind) => wallets.recognize_as(kind, address, chain),
        None => wallets.recognize(address, chain),
    };
    found.into_iter().find(|found| found.account == *account)
}
