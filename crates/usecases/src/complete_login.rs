//! A person presents a signed challenge: one guarded write spends it and stores user, grant and code.

use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::id::UserId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::{AccountName, WalletProof};
use countersign_ports::{CompleteLogin, EntropyExt, LoginCompleted, StoreError, Verdict, VerifierError};

use crate::issue_challenge::find_issued;
use crate::{Context, answer};

/// What the page sends.
#[derive(Clone)]
pub struct SignedChallenge {
    /// Who claims to have signed.
    pub wallet_address: String,
    /// The text.
    pub challenge: String,
    /// The signature, in any of its spellings.
    pub signature: String,
}

impl std::fmt::Debug for SignedChallenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedChallenge").finish_non_exhaustive()
    }
}

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub enum CompleteLoginError {
    /// The client was removed meanwhile.
    #[error("client is not registered any more")]
    ClientUnknown,
    /// The text is not one that may be answered.
    #[error("challenge is refused")]
    Challenge(#[from] ChallengeRejected),
    /// The challenge was used before.
    #[error("challenge was used before")]
    ChallengeSpent,
    /// The signature is not the wallet's, or not of this text.
    #[error("signature is not valid: {0}")]
    Signature(&'static str),
    /// No verdict could be found.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The login could not be stored.
    #[error("login could not be stored")]
    Store(#[from] StoreError),
}

/// Completes a login and answers with the redirect that carries the code. A signature that fails is counted in
/// `pending`; the challenge stays good for a few more.
pub async fn complete_login(
    context: &Context,
    pending: &mut PendingAuthorization,
    signed: SignedChallenge,
) -> Result<String, CompleteLoginError> {
    let now = context.clock.now();
    let name = AccountName::read(&signed.wallet_address, None).map_err(|_| ChallengeRejected::Unknown)?;
    let (issued, account) =
        find_issued(context, pending, name, &signed.challenge).ok_or(ChallengeRejected::Unknown)?;
    issued.admit(now)?;
    let id = issued.id;
    context.storage.find_client(pending.client).await?.ok_or(CompleteLoginError::ClientUnknown)?;
    let proof = WalletProof { account, text: signed.challenge, signature: signed.signature };
    let account = match context.wallets.verify(&proof).await? {
        Verdict::Valid(account) => account,
        Verdict::Invalid(reason) => {
            pending.count_failure(id);
            return Err(CompleteLoginError::Signature(reason));
        }
    };
    let code = Secret::with_id(id.as_uuid(), context.entropy.bytes());
    let lifetimes = &context.policy.lifetimes;
    let login = CompleteLogin {
        id,
        client: pending.client,
        account,
        new_user: UserId::random(context.entropy.bytes()),
        redirect_uri: pending.redirect_uri.clone(),
        scope: pending.scope,
        nonce: pending.nonce.clone(),
        code_challenge: pending.code_challenge,
        code_hash: SecretHash::of(&code),
        now,
        code_expires_at: now + lifetimes.code,
        // Kept in lock-step with the challenge's lifetime: a spent challenge that was forgotten while its text is still
        // good could be spent again.
        forget_after: now + lifetimes.code.max(lifetimes.challenge),
    };
    match context.storage.complete_login(login).await? {
        LoginCompleted::CodeIssued { user } => {
            tracing::info!(user.id = %user, client.id = %pending.client, grant.id = %id, "signed in");
            Ok(answer::with_code(
                &context.policy,
                &pending.redirect_uri,
                pending.state.as_deref(),
                code.expose(),
            ))
        }
        LoginCompleted::ChallengeSpent => Err(CompleteLoginError::ChallengeSpent),
    }
}
