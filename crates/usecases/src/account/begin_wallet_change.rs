//! A person wants to link or unlink a wallet: the texts are made and their fingerprints remembered. Nothing
//! is written to storage.

use countersign_domain::challenge::{ChallengeDigest, ChallengeText, IssuedChallenge, Purpose};
use countersign_domain::id::GrantId;
use countersign_domain::wallet::AccountName;
use countersign_domain::wallet_change::{PendingWalletChange, WalletChange};
use countersign_ports::{EntropyExt, RecognizedAccount, SigningHint};
use time::OffsetDateTime;

use crate::Context;
use crate::account::change_wallets::ChangeWalletsError;
use crate::steps::login::{Browser, find_login, is_recent};
use crate::steps::recognize_account::{RecognizeError, recognize_account_and_kind};

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedChange {
    /// Link another wallet.
    Link,
    /// Unlink one of the user's wallets.
    Unlink,
}

/// The texts of a change.
#[derive(Clone, Debug)]
pub struct WalletChangeTexts {
    /// The text for the wallet that the user already has.
    pub signer: TextToSign,
    /// The text for the other wallet; only when linking.
    pub other: Option<TextToSign>,
    /// When the texts expire.
    pub expires_at: OffsetDateTime,
}

/// One text to sign.
#[derive(Clone, Debug)]
pub struct TextToSign {
    /// The exact text.
    pub text: String,
    /// How to sign by hand.
    pub signing_hints: Vec<SigningHint>,
}

/// Why there are no texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginWalletChangeError {
    /// It is not clear which wallet signs.
    #[error(transparent)]
    Signer(#[from] RecognizeError),
    /// It is not clear which wallet to link or unlink. The inner text begins with the name of a field, and
    /// the prefix makes it the name of the other wallet's field.
    #[error("other_{0}")]
    Other(RecognizeError),
    /// A wallet cannot be linked to itself.
    #[error("other_wallet_address is the same wallet as wallet_address")]
    SameWallet,
}

/// Makes the texts of a change. A link has two texts, and each names the other's wallet. So no one can link a
/// wallet that they cannot sign with, and a signature for one pair of wallets is not valid for another pair.
/// Each text says of both wallets whether they are a key's or a contract's.
pub fn begin_wallet_change(
    context: &Context,
    wanted: WantedChange,
    signer: AccountName<'_>,
    other: AccountName<'_>,
) -> Result<(PendingWalletChange, WalletChangeTexts), BeginWalletChangeError> {
    let now = context.clock.now();
    let signer = recognize_account_and_kind(&*context.wallets, signer)?;
    let other =
        recognize_account_and_kind(&*context.wallets, other).map_err(BeginWalletChangeError::Other)?;
    if signer.account == other.account && wanted == WantedChange::Link {
        return Err(BeginWalletChangeError::SameWallet);
    }
    let id = GrantId::at(now, context.entropy.bytes());
    let expires_at = now + context.policy.lifetimes.challenge;
    let write = |reader: &RecognizedAccount, purpose| {
        let text = ChallengeText {
            public_url: &context.policy.public_url,
            account: &reader.account,
            account_kind: &reader.kind,
            chain_id: &reader.chain_id,
            signer_kind: reader.account.kind(),
            purpose,
            invitation: None,
            key: &context.keys.texts,
            random: context.entropy.bytes(),
            id,
            issued_at: now,
            expires_at,
        }
        .render();
        let digest = ChallengeDigest::of(&reader.account, &text);
        let signing_hints = context.wallets.signing_hints(&reader.account);
        (TextToSign { text, signing_hints }, digest)
    };
    let (change, (signer_text, digest), other_text) = match wanted {
        WantedChange::Link => {
            let for_signer = write(&signer, Purpose::Link { wallet: &other.account });
            let (text, other_digest) = write(&other, Purpose::Join { wallet: &signer.account });
            (WalletChange::Link { other_digest }, for_signer, Some(text))
        }
        WantedChange::Unlink => {
            (WalletChange::Unlink, write(&signer, Purpose::Unlink { wallet: &other.account }), None)
        }
    };
    let pending = PendingWalletChange {
        challenge: IssuedChallenge { id, digest, expires_at, failures: 0, chain: None, kind: None },
        change,
        signer: signer.account,
        other: other.account,
    };
    Ok((pending, WalletChangeTexts { signer: signer_text, other: other_text, expires_at }))
}

/// Refuses a link before anybody signs that could only be refused afterwards: the other wallet has an account
/// of its own, or the account has no room for another.
///
/// The answer reveals whether a wallet that is not the caller's has an account here. So only a browser gets
/// it whose user signed recently, with the account that the wallet would be linked to; and the caller bounds
/// how often. Everyone else gets the texts, and is refused after both signatures.
pub async fn admit_link(
    context: &Context,
    browser: &Browser,
    pending: &PendingWalletChange,
) -> Result<(), ChangeWalletsError> {
    let session = find_login(context, browser.login.as_ref()).await?;
    let Some(session) = session.filter(|session| is_recent(session, context.clock.now())) else {
        return Ok(());
    };
    if context.storage.find_owner(pending.signer.clone()).await? != Some(session.user) {
        return Ok(());
    }
    match context.storage.find_owner(pending.other.clone()).await? {
        Some(owner) if owner != session.user => Err(ChangeWalletsError::BelongsToAnother),
        Some(_) => Ok(()),
        None => {
            let most = context.policy.wallets_per_user;
            let has = context.storage.wallets_of(session.user).await?.len();
            if u32::try_from(has).is_ok_and(|has| has < most) {
                Ok(())
            } else {
                Err(ChangeWalletsError::TooMany { most })
            }
        }
    }
}

/// Returns the texts of a change that a person sent back, if they can still be answered. A page without
/// scripts shows them once more after an invalid signature.
pub fn recall_wallet_change(
    context: &Context,
    pending: &PendingWalletChange,
    signer: &str,
    other: Option<&str>,
) -> Option<WalletChangeTexts> {
    let now = context.clock.now();
    let recall = |account, text: &str| TextToSign {
        text: text.to_owned(),
        signing_hints: context.wallets.signing_hints(account),
    };
    let other = match pending.change {
        WalletChange::Link { .. } => {
            pending.admit_link(now, signer, other?).ok()?;
            other.map(|text| recall(&pending.other, text))
        }
        WalletChange::Unlink => {
            pending.admit_unlink(now, signer).ok()?;
            None
        }
    };
    let signer = recall(&pending.signer, signer);
    Some(WalletChangeTexts { signer, other, expires_at: pending.challenge.expires_at })
}
