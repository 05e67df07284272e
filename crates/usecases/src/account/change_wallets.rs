//! A person presents the signatures of a change: they are verified, and one guarded write makes the change.

use countersign_domain::challenge::{ChallengeRejected, IssuedChallenge};
use countersign_domain::event::EventKind;
use countersign_domain::id::UserId;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_ports::{
    LinkWallet, StoreError, UnlinkWallet, Verdict, VerifierError, WalletLinked, WalletUnlinked,
};

use crate::Context;
use crate::context::cause::Cause;
use crate::steps::name_wallet::{claimed, name_new_wallet};

/// A text and its signature.
#[derive(Clone)]
pub struct SignedText {
    /// The text.
    pub text: String,
    /// The signature, in any encoding that we accept.
    pub signature: String,
}

impl std::fmt::Debug for SignedText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedText").finish_non_exhaustive()
    }
}

/// A user and all their wallets after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletsOfUser {
    /// The user.
    pub user: UserId,
    /// The wallets, oldest link first.
    pub wallets: Vec<WalletAccount>,
}

/// Why nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeWalletsError {
    /// The texts were not issued for this change, or can no longer be answered.
    #[error("challenge is refused")]
    Challenge(#[from] ChallengeRejected),
    /// The challenge was used before.
    #[error("challenge was used before")]
    ChallengeSpent,
    /// The signature of the user's wallet is not valid.
    #[error("signature is not valid: {0}")]
    Signature(&'static str),
    /// The signature of the other wallet is not valid.
    #[error("signature of the other wallet is not valid: {0}")]
    OtherSignature(&'static str),
    /// The signing wallet belongs to no user.
    #[error("signing wallet belongs to no account")]
    SignerUnknown,
    /// The operator keeps the user or one of the wallets out.
    #[error("user or wallet is not admitted")]
    NotAdmitted,
    /// The other wallet belongs to another user.
    #[error("other wallet belongs to another user")]
    BelongsToAnother,
    /// The user has as many wallets as a user may have.
    #[error("user has {most} wallets or more")]
    TooMany {
        /// How many that is.
        most: u32,
    },
    /// The other wallet is not the user's.
    #[error("other wallet is not one of the user's")]
    NotTheirs,
    /// It is the user's last wallet. Without it they could not sign in.
    #[error("other wallet is the user's last")]
    LastWallet,
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The change could not be stored.
    #[error("change could not be stored")]
    Store(#[from] StoreError),
}

/// Links the other wallet to the signer's user. Needs new signatures of both. `own_name` is what the other
/// wallet's software calls itself.
pub async fn link_wallet(
    context: &Context,
    cause: &Cause,
    pending: &mut PendingWalletChange,
    signer: SignedText,
    other: SignedText,
    own_name: Option<&str>,
) -> Result<WalletsOfUser, ChangeWalletsError> {
    let now = context.clock.now();
    pending.admit_link(now, &signer.text, &other.text)?;
    let signer = proven(context, pending, Whose::Signer, signer).await?;
    let wallet = proven(context, pending, Whose::Other, other).await?;
    let IssuedChallenge { id, expires_at, .. } = pending.challenge;
    let event =
        context.event(now, cause, EventKind::WalletLinked, |event| event.wallet = Some(wallet.clone()));
    let (begun_at, forget_after) = (id.issued_at(), expires_at);
    let most = context.policy.wallets_per_user;
    let command = LinkWallet { id, signer, wallet, begun_at, now, forget_after, most, event };
    let user = match context.storage.link_wallet(command).await? {
        WalletLinked::Linked { user } => {
            tracing::info!(user.id = %user, wallet = %pending.other.shortened(), "wallet linked");
            if let Some(name) = claimed(own_name) {
                name_new_wallet(context, user, pending.other.clone(), name).await;
            }
            user
        }
        WalletLinked::AlreadyTheirs { user } => user,
        WalletLinked::BelongsToAnother => return Err(ChangeWalletsError::BelongsToAnother),
        WalletLinked::TooMany => return Err(ChangeWalletsError::TooMany { most }),
        WalletLinked::SignerUnknown => return Err(ChangeWalletsError::SignerUnknown),
        WalletLinked::Blocked => return Err(ChangeWalletsError::NotAdmitted),
        WalletLinked::ChallengeSpent => return Err(ChangeWalletsError::ChallengeSpent),
    };
    wallets_of(context, user).await
}

/// Unlinks a wallet from the signer's user, and revokes everything that was granted by signing in with it.
pub async fn unlink_wallet(
    context: &Context,
    cause: &Cause,
    pending: &mut PendingWalletChange,
    signer: SignedText,
) -> Result<WalletsOfUser, ChangeWalletsError> {
    let now = context.clock.now();
    pending.admit_unlink(now, &signer.text)?;
    let signer = proven(context, pending, Whose::Signer, signer).await?;
    let IssuedChallenge { id, expires_at, .. } = pending.challenge;
    let wallet = pending.other.clone();
    let event =
        context.event(now, cause, EventKind::WalletUnlinked, |event| event.wallet = Some(wallet.clone()));
    let (begun_at, forget_after) = (id.issued_at(), expires_at);
    let command = UnlinkWallet { id, signer, wallet, begun_at, now, forget_after, event };
    let user = match context.storage.unlink_wallet(command).await? {
        WalletUnlinked::Unlinked { user } => {
            tracing::info!(user.id = %user, wallet = %pending.other.shortened(), "wallet unlinked");
            user
        }
        WalletUnlinked::NotTheirs => return Err(ChangeWalletsError::NotTheirs),
        WalletUnlinked::LastWallet => return Err(ChangeWalletsError::LastWallet),
        WalletUnlinked::SignerUnknown => return Err(ChangeWalletsError::SignerUnknown),
        WalletUnlinked::Blocked => return Err(ChangeWalletsError::NotAdmitted),
        WalletUnlinked::ChallengeSpent => return Err(ChangeWalletsError::ChallengeSpent),
    };
    wallets_of(context, user).await
}

#[derive(Clone, Copy)]
enum Whose {
    Signer,
    Other,
}

/// Verifies a signature and returns the account that signed. An invalid signature is counted.
async fn proven(
    context: &Context,
    pending: &mut PendingWalletChange,
    whose: Whose,
    signed: SignedText,
) -> Result<WalletAccount, ChangeWalletsError> {
    let account = match whose {
        Whose::Signer => pending.signer.clone(),
        Whose::Other => pending.other.clone(),
    };
    // The texts say whether it is a key or a contract, so nothing else may have signed.
    let kind = account.kind();
    let proof = WalletProof { account, kind, text: signed.text, signature: signed.signature };
    match context.wallets.verify(&proof).await? {
        Verdict::Valid(account) => Ok(account),
        Verdict::Invalid(reason) => {
            pending.challenge.count_failure();
            Err(match whose {
                Whose::Signer => ChangeWalletsError::Signature(reason),
                Whose::Other => ChangeWalletsError::OtherSignature(reason),
            })
        }
    }
}

async fn wallets_of(context: &Context, user: UserId) -> Result<WalletsOfUser, ChangeWalletsError> {
    let linked = context.storage.wallets_of(user).await?;
    Ok(WalletsOfUser { user, wallets: linked.into_iter().map(|linked| linked.account).collect() })
}
