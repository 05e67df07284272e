//! A person presents a signed challenge: one guarded write uses it up and stores the user, the grant and the
//! code. It stores a session too, if the browser is to remember the sign-in.

use countersign_domain::authorization;
use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::id_token::SignedText;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_ports::{
    CompleteLogin, EndSession, EntropyExt, LoginCompleted, OpenSession, RevokeGrant, SessionOpened,
    StoreError, Verdict, VerifierError,
};

use crate::Context;
use crate::clients::client_document::{FindClientError, find_pending, keep_pending, store_pending};
use crate::sign_in::find_device::{Answered, answered_for};
use crate::sign_in::issue_challenge::find_issued;
use crate::steps::admit::{KeptOut, NotAdmitted, kept_out, kept_out_since, take_back};
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;
use crate::steps::file_email::{ConfirmationLink, file_first_email};
use crate::steps::login::{Browser, Remembered, new_session};
use crate::steps::name_wallet::{claimed, name_new_wallet};
use crate::steps::new_grant::{NewGrant, Recipient, Signer, new_grant};
use crate::steps::token_access::{nothing_is_left, share_of};

/// What the page sends.
#[derive(Clone)]
pub struct SignedChallenge {
    /// Who claims to have signed.
    pub wallet_address: String,
    /// The text.
    pub challenge: String,
    /// The signature, in any encoding that we accept.
    pub signature: String,
}

impl std::fmt::Debug for SignedChallenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedChallenge").finish_non_exhaustive()
    }
}

/// What else the person wants.
#[derive(Clone, Debug, Default)]
pub struct LoginWishes {
    /// Should the browser remember the sign-in?
    pub remember: bool,
    /// The browser.
    pub browser: Browser,
    /// An e-mail address, used if the user has none on file.
    pub email: Option<String>,
    /// Where the request came from, for the log.
    pub peer: Option<PeerAddress>,
    /// What the wallet's software calls itself. Used if the wallet is new here.
    pub wallet_name: Option<String>,
}

/// A completed login.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Where the person goes: to the client with the code, or to the account page.
    pub to: ClientAnswer,
    /// The family of the wallet that signed.
    pub family: String,
    /// What the browser keeps.
    pub remembered: Option<Remembered>,
    /// The link to mail, if an e-mail address came with the sign-in.
    pub link: Option<ConfirmationLink>,
}

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub enum CompleteLoginError {
    /// The text is not an e-mail address.
    #[error(transparent)]
    Email(#[from] EmailRejected),
    /// The client was deleted in the meantime, its document is refused now, or it took its redirect URI back.
    #[error("client can no longer be used")]
    Client(#[from] FindClientError),
    /// The text was not issued for this request, or can no longer be answered.
    #[error("challenge is refused")]
    Challenge(#[from] ChallengeRejected),
    /// The challenge was used before.
    #[error("challenge was used before")]
    ChallengeSpent,
    /// The signature is not the wallet's, or not of this text.
    #[error("signature is not valid: {0}")]
    Signature(&'static str),
    /// The person is in none of the groups that the scopes of a device need.
    #[error("person lacks the groups for all scopes")]
    ScopesWithheld,
    /// The operator does not let the wallet in.
    #[error(transparent)]
    NotAdmitted(Box<NotAdmitted>),
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The login could not be stored.
    #[error("login could not be stored")]
    Store(#[from] StoreError),
}

/// Completes a login. Nothing is stored of somebody who is not let in, and the challenge stays valid. An invalid
/// signature is counted in `pending`; the challenge stays valid for a few more.
pub async fn complete_login(
    context: &Context,
    pending: &mut PendingAuthorization,
    signed: SignedChallenge,
    wishes: LoginWishes,
) -> Result<SignedIn, CompleteLoginError> {
    let now = context.clock.now();
    let email = wishes.email.as_deref().map(EmailAddress::parse).transpose()?;
    let name = AccountName::read(&signed.wallet_address, None).map_err(|_| ChallengeRejected::Unknown)?;
    let (issued, account) =
        find_issued(context, pending, name, &signed.challenge).ok_or(ChallengeRejected::Unknown)?;
    issued.admit(now)?;
    let (id, forget_after, kind) = (issued.id, issued.expires_at, issued.kind);
    if let Some(access) = pending.access() {
        find_pending(context, access).await?;
    }
    let answered = answered_for(context, now, pending).await?.ok_or(ChallengeRejected::Expired)?;
    let proof = WalletProof { account, kind, text: signed.challenge, signature: signed.signature };
    let account = match context.wallets.verify(&proof).await? {
        Verdict::Valid(account) => account,
        Verdict::Invalid(reason) => {
            pending.count_failure(id);
            return Err(CompleteLoginError::Signature(reason));
        }
    };
    // Read again: whoever is asked to sign may take minutes, and the rule that counts is the one of now.
    let client = match pending.access() {
        Some(access) => Some(find_pending(context, access).await?),
        None => None,
    };
    let refused = |account: WalletAccount, why: KeptOut| {
        let not_admitted = NotAdmitted::of(client.as_deref(), account, why);
        CompleteLoginError::NotAdmitted(Box::new(not_admitted))
    };
    if let Some(why) = kept_out(context, client.as_deref(), &account).await? {
        return Err(refused(account, why));
    }
    let (family, wallet) = (account.family.clone(), account.shortened());
    let address = wishes.peer.map(tracing::field::display);
    let named = claimed(wishes.wallet_name.as_deref()).map(|name| (account.clone(), name));
    let new_user = UserId::random(context.entropy.bytes());
    let lifetimes = &context.policy.lifetimes;
    let recipient = match answered {
        Answered::Grant(recipient) => recipient,
        Answered::Session { page } => {
            // The account page needs a session, even if other sign-ins are not remembered.
            let lifetime = lifetimes.login_session.max(Lifetimes::RECENT);
            let (session, remembered) = new_session(context, now, wishes.browser, lifetime).await?;
            let opened = session.id;
            let command = OpenSession {
                id,
                account: account.clone(),
                new_user,
                session,
                now,
                forget_after,
                event: None,
            };
            return match context.storage.open_session(command).await? {
                SessionOpened::Opened { user } => {
                    if let Some(why) = kept_out_since(context, &account).await? {
                        context.storage.end_session(EndSession { user, id: opened, event: None }).await?;
                        return Err(refused(account, why));
                    }
                    tracing::info!(user.id = %user, wallet, address, "signed in to the account page");
                    if let Some((wallet, name)) = named.filter(|_| user == new_user) {
                        name_new_wallet(context, user, wallet, name).await;
                    }
                    let to = ClientAnswer::page(page.clone());
                    Ok(SignedIn { to, family, remembered: Some(remembered), link: None })
                }
                SessionOpened::ChallengeSpent => Err(CompleteLoginError::ChallengeSpent),
            };
        }
    };
    let (session, remembered) = if wishes.remember && lifetimes.login_session.is_positive() {
        let made = new_session(context, now, wishes.browser, lifetimes.login_session).await?;
        (Some(made.0), Some(made.1))
    } else {
        (None, None)
    };
    let Some(share) = share_of(context, &recipient.access().scope, &account).await? else {
        let Recipient::Client(request) = recipient else { return Err(CompleteLoginError::ScopesWithheld) };
        let to = answer::with_error(&context.policy, request, &nothing_is_left());
        return Ok(SignedIn { to, family, remembered: None, link: None });
    };
    let signed = SignedText { text: proof.text, signature: proof.signature };
    let signer = Signer { id, account: account.clone(), new_user, signed: Some(signed) };
    if let Some(client) = &client {
        store_pending(context, pending, client, true).await?;
    }
    let NewGrant { login, to } = new_grant(context, now, &recipient, signer, now + lifetimes.challenge);
    let opened = session.as_ref().map(|session| session.id);
    let login = CompleteLogin { scope: share.granted, withheld: share.withheld, session, ..login };
    let user = match context.storage.complete_login(login).await? {
        LoginCompleted::CodeIssued { user } => user,
        LoginCompleted::ChallengeSpent => return Err(CompleteLoginError::ChallengeSpent),
    };
    if let Some(why) = kept_out_since(context, &account).await? {
        take_back(context, now, id).await?;
        if let Some(opened) = opened {
            context.storage.end_session(EndSession { user, id: opened, event: None }).await?;
        }
        return Err(refused(account, why));
    }
    if let Some((wallet, name)) = named.filter(|_| user == new_user) {
        name_new_wallet(context, user, wallet, name).await;
    }
    let client = recipient.access().client;
    if let Recipient::Client(request) = recipient
        && request.required_user.is_some_and(|required| required != user)
    {
        let reason = RevocationReason::OtherUser;
        context.storage.revoke_grant(RevokeGrant { id, reason, now, event: None }).await?;
        tracing::info!(user.id = %user, client.id = %client, reason = reason.name(), "grant revoked");
        let to = answer::with_error(&context.policy, request, &authorization::other_user());
        return Ok(SignedIn { to, family, remembered, link: None });
    }
    keep_pending(context, recipient.access()).await?;
    tracing::info!(user.id = %user, client.id = %client, grant.id = %id, wallet, address, "signed in");
    Ok(SignedIn { to, family, remembered, link: file_first_email(context, user, email).await })
}
