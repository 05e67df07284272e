//! A signed-in person continues to a client that they agreed to before: one guarded write, no wallet.

use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::login_session::LoginSession;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, ContinueSession, SessionContinued, StoreError};

use crate::Context;
use crate::clients::client_document::{FindClientError, find_pending, store_pending};
use crate::context::cause::Cause;
use crate::sign_in::find_device::{Answered, answered_for};
use crate::steps::admit::{KeptOut, NotAdmitted, kept_out, kept_out_since, take_back};
use crate::steps::answer::ClientAnswer;
use crate::steps::end_grant::EndingGrant;
use crate::steps::file_email::{ConfirmationLink, file_first_email};
use crate::steps::login::{Browser, find_login, is_recent};
use crate::steps::new_grant::{NewGrant, Recipient, Signer, new_grant};
use crate::steps::token_access::share_of;

/// Why a signature is needed after all.
#[derive(Debug, thiserror::Error)]
pub enum ContinueSessionError {
    /// The text is not an e-mail address.
    #[error(transparent)]
    Email(#[from] EmailRejected),
    /// No one is signed in, another user is, or the sign-in is too old for this request.
    #[error("login session is missing, over or too old for the request")]
    SessionEnded,
    /// The user never agreed to all of this at once.
    #[error("user did not agree to this client, destination, audiences and scopes")]
    ConsentMissing,
    /// The user is in none of the groups that the scopes need.
    #[error("user lacks the groups for all scopes")]
    ScopesWithheld,
    /// The operator does not let the session's wallet in.
    #[error(transparent)]
    NotAdmitted(Box<NotAdmitted>),
    /// The request was answered before.
    #[error("request was answered before")]
    RequestSpent,
    /// The client was deleted in the meantime, its document is refused now, or it took its redirect URI back.
    #[error("client can no longer be used")]
    Client(#[from] FindClientError),
    /// The grant could not be stored.
    #[error("grant could not be stored")]
    Store(#[from] StoreError),
}

/// Where a continued session leads.
#[derive(Clone, Debug)]
pub struct Continued {
    /// The answer with the code.
    pub to: ClientAnswer,
    /// The link to mail, if an e-mail address came with it.
    pub link: Option<ConfirmationLink>,
}

/// What the person presses Continue for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContinueWishes<'a> {
    /// The account that the page named, if it named one, by CAIP-10. Another user may have signed in on this
    /// browser since.
    pub account: Option<&'a str>,
    /// An e-mail address, used if the user has none on file.
    pub email: Option<&'a str>,
}

/// Continues the session that the browser presents, for a pending request.
pub async fn continue_session(
    context: &Context,
    cause: &Cause,
    pending: &PendingAuthorization,
    browser: &Browser,
    wishes: ContinueWishes<'_>,
) -> Result<Continued, ContinueSessionError> {
    let email = wishes.email.map(EmailAddress::parse).transpose()?;
    let session = find_login(context, browser.login.as_ref()).await?;
    let session = session
        .filter(|session| wishes.account.is_none_or(|named| session.account.caip10() == named))
        .ok_or(ContinueSessionError::SessionEnded)?;
    // As on the account page, a remembered sign-in is not enough to put an address on file.
    let email = email.filter(|_| is_recent(&session, context.clock.now()));
    let user = session.user;
    let to = grant(context, cause, pending, session).await?;
    Ok(Continued { to, link: file_first_email(context, user, email).await })
}

/// Gives the client a grant from a session, and makes the answer with the code.
pub(crate) async fn grant(
    context: &Context,
    cause: &Cause,
    pending: &PendingAuthorization,
    session: LoginSession,
) -> Result<ClientAnswer, ContinueSessionError> {
    if !pending.takes_session(&session) {
        return Err(ContinueSessionError::SessionEnded);
    }
    // The account page has no scopes that anybody could have agreed to, and gets no code.
    let access = pending.access().ok_or(ContinueSessionError::ConsentMissing)?;
    let client = find_pending(context, access).await?;
    let refused = |account: WalletAccount, why: KeptOut| {
        let not_admitted = NotAdmitted::of(Some(&client), account, why);
        ContinueSessionError::NotAdmitted(Box::new(not_admitted))
    };
    if let Some(why) = kept_out(context, Some(&client), &session.account).await? {
        return Err(refused(session.account, why));
    }
    store_pending(context, pending, &client, false).await?;
    let now = context.clock.now();
    let recipient = match answered_for(context, now, pending).await? {
        Some(Answered::Grant(recipient)) => recipient,
        Some(Answered::Session { .. }) => return Err(ContinueSessionError::ConsentMissing),
        None => return Err(ContinueSessionError::RequestSpent),
    };
    let asked = recipient.terms();
    let consents = context.storage.consents_at(session.user, access.client).await?;
    let agreed = consents.into_iter().find(|consent| consent.covers(&asked, &access.scope));
    let agreed = agreed.ok_or(ContinueSessionError::ConsentMissing)?.terms.audiences;
    let share = share_of(context, &access.scope, &session.account).await?;
    let share = share.ok_or(ContinueSessionError::ScopesWithheld)?;
    let id = match &recipient {
        Recipient::Client(request) => request.grant_id(pending.expires_at, session.id),
        Recipient::Device { waiting, .. } => waiting.id,
    };
    let account = session.account.clone();
    let signer = Signer { id, account, new_user: session.user, signed: None };
    let NewGrant { login, to } = new_grant(context, now, &recipient, signer, pending.expires_at);
    let event = context.event(now, cause, EventKind::SignInContinued, |event| {
        event.wallet = Some(session.account.clone());
        event.client = Some(access.client);
        event.details = Details::default().text("way", recipient.way()).text("grant", id);
    });
    let login = CompleteLogin { scope: share.granted, withheld: share.withheld, event, ..login };
    let (id_of_session, authenticated_at) = (session.id, session.authenticated_at);
    let command = ContinueSession { session: id_of_session, authenticated_at, login, agreed };
    match context.storage.continue_session(command).await? {
        SessionContinued::CodeIssued => {
            if let Some(why) = kept_out_since(context, &session.account).await? {
                let grant = EndingGrant { id, client: access.client, user: Some(session.user) };
                take_back(context, cause, now, grant).await?;
                return Err(refused(session.account, why));
            }
            context.uses.note_sign_in(session.user, now);
            context.uses.note_client(access.client, now);
            tracing::info!(user.id = %session.user, client.id = %access.client, grant.id = %id, "continued");
            Ok(to)
        }
        SessionContinued::RequestSpent => Err(ContinueSessionError::RequestSpent),
        SessionContinued::SessionEnded => Err(ContinueSessionError::SessionEnded),
        SessionContinued::ConsentMissing => Err(ContinueSessionError::ConsentMissing),
    }
}
