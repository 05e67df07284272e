//! A person presents a signed challenge: one guarded write uses it up and stores the user, the grant and the
//! code. It stores a session too, if the browser is to remember the sign-in.

use std::sync::Arc;

use countersign_domain::authorization;
use countersign_domain::challenge::ChallengeRejected;
use countersign_domain::client::Client;
use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{GrantId, SessionId, UserId};
use countersign_domain::id_token::SignedText;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::wallet::{AccountName, WalletAccount, WalletProof};
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{
    CompleteLogin, EndSession, EntropyExt, LoginCompleted, OpenSession, SessionOpened, StoreError, Verdict,
    VerifierError,
};
use time::OffsetDateTime;

use crate::Context;
use crate::clients::client_document::{FindClientError, find_pending, keep_pending, store_pending};
use crate::context::cause::Cause;
use crate::sign_in::find_device::{Answered, answered_for};
use crate::sign_in::issue_challenge::find_issued;
use crate::steps::accept_invitation::{InvitationRefused, accept_invitation};
use crate::steps::admit::{KeptOut, NotAdmitted, kept_out, kept_out_of, kept_out_since, take_back};
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;
use crate::steps::end_grant::{EndingGrant, end_grant};
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

/// Why no one is signed in.
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
    /// The invitation that was signed for lets no one in any more.
    #[error(transparent)]
    Invitation(InvitationRefused),
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The login could not be stored.
    #[error("login could not be stored")]
    Store(#[from] StoreError),
}

/// Completes a login. Nothing is stored about a person who is turned away, and the challenge stays valid. An
/// invalid signature is counted in `pending`; the challenge stays valid for a few more.
pub async fn complete_login(
    context: &Context,
    cause: &Cause,
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
    if let Some(access) = pending.access() {
        find_pending(context, access).await?;
    }
    let answered = answered_for(context, now, pending).await?.ok_or(ChallengeRejected::Expired)?;
    let proof =
        WalletProof { account, kind: issued.kind, text: signed.challenge, signature: signed.signature };
    let account = match context.wallets.verify(&proof).await? {
        Verdict::Valid(account) => account,
        Verdict::Invalid(reason) => {
            pending.count_failure(issued.id);
            return Err(CompleteLoginError::Signature(reason));
        }
    };
    // Read again: the person may take minutes to sign, and the current rule counts.
    let client = match pending.access() {
        Some(access) => Some(find_pending(context, access).await?),
        None => None,
    };
    let (id, forget_after) = (issued.id, issued.expires_at);
    let named = claimed(wishes.wallet_name.as_deref());
    let new_user = UserId::random(context.entropy.bytes());
    let signing = Signing { context, cause, now, id, forget_after, account, named, new_user, client };
    let client = signing.client.as_deref();
    let kept_out = match &pending.invitation {
        Some(invitation) => kept_out_of(context, client, &signing.account, &invitation.group).await?,
        None => kept_out(context, client, &signing.account).await?,
    };
    if let Some(why) = kept_out {
        return Err(signing.refused(why));
    }
    if let Some(invitation) = &pending.invitation {
        match accept_invitation(context, cause, now, invitation, &signing.account).await? {
            Ok(()) => {}
            Err(InvitationRefused::Blocked) => return Err(signing.refused(KeptOut::Blocked)),
            Err(refused @ (InvitationRefused::Unknown | InvitationRefused::Ended(_))) => {
                return Err(CompleteLoginError::Invitation(refused));
            }
        }
    }
    match answered {
        Answered::Session { page } => signing.open_account_page(page, wishes.browser).await,
        Answered::Grant(recipient) => {
            let signed = SignedText { text: proof.text, signature: proof.signature };
            signing.give_grant(pending, recipient, signed, wishes, email).await
        }
    }
}

/// A sign-in with a wallet that signed.
struct Signing<'a> {
    context: &'a Context,
    cause: &'a Cause,
    now: OffsetDateTime,
    /// The challenge, which the sign-in uses up, and until when that must be known.
    id: GrantId,
    forget_after: OffsetDateTime,
    /// The wallet.
    account: WalletAccount,
    /// The name of its software, if the page knows one.
    named: Option<WalletName>,
    /// The user, if the wallet belongs to no one yet.
    new_user: UserId,
    /// The client, unless the person goes to the account page.
    client: Option<Arc<Client>>,
}

impl Signing<'_> {
    fn refused(self, why: KeptOut) -> CompleteLoginError {
        let not_admitted = NotAdmitted::of(self.client.as_deref(), self.account, why);
        CompleteLoginError::NotAdmitted(Box::new(not_admitted))
    }

    /// Names the wallet if it has just come to its user.
    async fn name_wallet(&mut self, user: UserId) {
        if let Some(name) = self.named.take().filter(|_| user == self.new_user) {
            name_new_wallet(self.context, user, self.account.clone(), name).await;
        }
    }

    /// Opens a session for our account page.
    async fn open_account_page(
        mut self,
        page: &RedirectUri,
        browser: Browser,
    ) -> Result<SignedIn, CompleteLoginError> {
        let Self { context, cause, now, id, forget_after, new_user, .. } = self;
        // The account page needs a session, even if other sign-ins are not remembered.
        let lifetime = context.policy.lifetimes.login_session.max(Lifetimes::RECENT);
        let (session, remembered) = new_session(context, now, browser, lifetime).await?;
        let opened = session.id;
        let account = self.account.clone();
        let event = context.event(now, cause, EventKind::SignIn, |event| {
            event.wallet = Some(account.clone());
            event.details = Details::default().text("way", "account").flag("session", true);
        });
        let command = OpenSession { id, account, new_user, session, now, forget_after, event };
        let user = match context.storage.open_session(command).await? {
            SessionOpened::Opened { user } => user,
            SessionOpened::ChallengeSpent => return Err(CompleteLoginError::ChallengeSpent),
        };
        if let Some(why) = kept_out_since(context, &self.account).await? {
            forget_session(context, cause, now, (user, opened)).await?;
            return Err(self.refused(why));
        }
        context.uses.note_sign_in(user, now);
        let (wallet, address) = (self.account.shortened(), cause.logged_address.map(tracing::field::display));
        tracing::info!(user.id = %user, wallet, address, "signed in to the account page");
        self.name_wallet(user).await;
        let to = ClientAnswer::page(page.clone());
        Ok(SignedIn { to, family: self.account.family, remembered: Some(remembered), link: None })
    }

    /// Gives a grant to the party that asked for the sign-in: the client of a request, or a device.
    async fn give_grant(
        mut self,
        pending: &PendingAuthorization,
        recipient: Recipient<'_>,
        signed: SignedText,
        wishes: LoginWishes,
        email: Option<EmailAddress>,
    ) -> Result<SignedIn, CompleteLoginError> {
        let Self { context, cause, now, id, new_user, .. } = self;
        let lifetimes = &context.policy.lifetimes;
        let (session, remembered) = if wishes.remember && lifetimes.login_session.is_positive() {
            let made = new_session(context, now, wishes.browser, lifetimes.login_session).await?;
            (Some(made.0), Some(made.1))
        } else {
            (None, None)
        };
        let Some(share) = share_of(context, &recipient.access().scope, &self.account).await? else {
            let Recipient::Client(request) = recipient else {
                return Err(CompleteLoginError::ScopesWithheld);
            };
            let to = answer::with_error(&context.policy, request, &nothing_is_left());
            return Ok(SignedIn { to, family: self.account.family, remembered: None, link: None });
        };
        let signer = Signer { id, account: self.account.clone(), new_user, signed: Some(signed) };
        if let Some(client) = &self.client {
            store_pending(context, pending, client, true).await?;
        }
        let NewGrant { login, to } = new_grant(context, now, &recipient, signer, now + lifetimes.challenge);
        let opened = session.as_ref().map(|session| session.id);
        let at_client = recipient.access().client;
        let event = context.event(now, cause, EventKind::SignIn, |event| {
            event.wallet = Some(self.account.clone());
            event.client = Some(at_client);
            let details = Details::default().text("way", recipient.way()).text("grant", id);
            event.details = details.flag("session", session.is_some());
        });
        let login = CompleteLogin { scope: share.granted, withheld: share.withheld, session, event, ..login };
        let user = match context.storage.complete_login(login).await? {
            LoginCompleted::CodeIssued { user } => user,
            LoginCompleted::ChallengeSpent => return Err(CompleteLoginError::ChallengeSpent),
        };
        let grant = EndingGrant { id, client: at_client, user: Some(user) };
        if let Some(why) = kept_out_since(context, &self.account).await? {
            take_back(context, cause, now, grant).await?;
            if let Some(opened) = opened {
                forget_session(context, cause, now, (user, opened)).await?;
            }
            return Err(self.refused(why));
        }
        context.uses.note_sign_in(user, now);
        context.uses.note_client(at_client, now);
        self.name_wallet(user).await;
        if let Recipient::Client(request) = recipient
            && !request.accepted.accepts(user)
        {
            let reason = RevocationReason::OtherUser;
            end_grant(context, &cause.by_server(), now, grant, reason).await?;
            tracing::info!(user.id = %user, client.id = %at_client, reason = reason.name(), "grant revoked");
            let to = answer::with_error(&context.policy, request, &authorization::other_user());
            return Ok(SignedIn { to, family: self.account.family, remembered, link: None });
        }
        keep_pending(context, recipient.access()).await?;
        let (wallet, address) = (self.account.shortened(), cause.logged_address.map(tracing::field::display));
        tracing::info!(user.id = %user, client.id = %at_client, grant.id = %id, wallet, address, "signed in");
        let link = file_first_email(context, user, email).await;
        Ok(SignedIn { to, family: self.account.family, remembered, link })
    }
}

/// Ends a session whose user was blocked while it was stored.
async fn forget_session(
    context: &Context,
    cause: &Cause,
    now: OffsetDateTime,
    (user, id): (UserId, SessionId),
) -> Result<(), StoreError> {
    let event = context.event(now, &cause.by_server(), EventKind::SessionEnded, |event| {
        event.details = Details::default().text("sessions", "this");
    });
    context.storage.end_session(EndSession { user, id, event }).await?;
    Ok(())
}
