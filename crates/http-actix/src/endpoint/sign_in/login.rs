//! `POST /oauth/login`: a person presents a signed challenge.

pub(crate) mod description;

use std::fmt;

use actix_session::Session;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::authorization::unknown_client;
use countersign_domain::client_document::DocumentUrl;
use countersign_domain::event::Actor;
use countersign_domain::id::ClientId;
use countersign_domain::pending::ACCOUNT_PAGE;
use countersign_domain::wallet::AccountName;
use countersign_metrics::{LoginResult, namespace};
use countersign_usecases::sign_in::complete_login::{
    CompleteLoginError, LoginWishes, SignedChallenge, SignedIn, complete_login,
};
use countersign_usecases::sign_in::issue_challenge::recall_challenge;
use paperclip::actix::Apiv2Schema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use crate::browser::session::{Pendings, forget_invitation};
use crate::endpoint::sign_in::answer::{Leaving, leave};
use crate::endpoint::sign_in::auth_page::{self, Notice, Step};
use crate::endpoint::steps::mail;
use crate::error::{About, ApiError};
use crate::extract::accept::prefers_html;
use crate::extract::body::{Body, BodyKind, required};
use crate::extract::request_id::Reference;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::state::AppState;

/// A signed challenge, and the pending request that it answers.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct LoginRequest {
    /// The wallet's address.
    wallet_address: Option<String>,
    /// The exact text that was issued.
    challenge: Option<String>,
    /// The wallet's signature: hex, base64, base64url or base58, depending on the wallet family.
    signature: Option<String>,
    /// The client of the pending request.
    client_id: Option<String>,
    /// Its redirect URI.
    redirect_uri: Option<String>,
    /// Its state.
    state: Option<String>,
    /// Whether this browser should remember the sign-in. A form sends `on`.
    #[serde(default, deserialize_with = "flag")]
    remember: bool,
    /// An e-mail address. It goes on file if the user has none there.
    email: Option<String>,
    /// What the wallet's software calls itself. If the wallet is new here, the user finds it under this name
    /// on the account page and can change it. No one else sees it, and a text that cannot be a name is
    /// ignored.
    wallet_name: Option<String>,
}

/// Reads `true` from JSON and `on` or `true` from a form.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Flag;

    impl Visitor<'_> for Flag {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a boolean")
        }

        fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }

        fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<bool, E> {
            match value {
                "on" | "true" => Ok(true),
                "off" | "false" => Ok(false),
                _ => Err(E::custom("expected on or off")),
            }
        }
    }

    deserializer.deserialize_any(Flag)
}

pub(crate) async fn complete(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    state.admit(&request, Limited::Login)?;
    let is_form = body.kind == BodyKind::Form;
    let sent: LoginRequest = body.either()?;
    mail::admit_first_link(&state, &request, sent.email.as_deref())?;
    let mut pendings = Pendings::require(&session, context.clock.now())?;
    let wallet_address = required(sent.wallet_address, "wallet_address")?;
    let challenge = required(sent.challenge, "challenge")?;
    let signature = required(sent.signature, "signature")?;
    let client_id = required(sent.client_id, "client_id")?;
    let redirect_uri = required(sent.redirect_uri, "redirect_uri")?;
    let client_state = sent.state;
    let about = |wallet: &str| About::client(&client_id).wallet(&*context.wallets, wallet);
    let Some(pending) = pendings.find(&client_id, &redirect_uri, client_state.as_deref()) else {
        let error = no_such_request(&state, &client_id, client_state.as_deref()).await;
        return Err(error.about(about(&wallet_address)));
    };
    let signed = if is_form {
        // Browsers send the line breaks of a form as CR LF, and pasted text often has spaces around it.
        SignedChallenge {
            wallet_address: wallet_address.trim().to_owned(),
            challenge: challenge.replace("\r\n", "\n"),
            signature: signature.trim().to_owned(),
        }
    } else {
        SignedChallenge { wallet_address, challenge, signature }
    };
    let language = Language::of(&request, pending.ui_locales.as_deref());
    let wishes = LoginWishes {
        remember: sent.remember,
        browser: state.browser(&request),
        email: sent.email,
        wallet_name: sent.wallet_name,
    };
    let cause = state.cause(&request, Actor::Person);
    let done = complete_login(context, &cause, pending, signed.clone(), wishes).await;
    count(&state, &signed.wallet_address, &done);
    let pending = pending.clone();
    let error = match done {
        Ok(SignedIn { to, family: _, remembered, link }) => {
            if pending.invitation.is_some() {
                forget_invitation(&session);
            }
            mail::send_first_link(&state, language, link);
            let leaving = Leaving { pending: &pending, is_form, denied: false };
            let mut answer = leave(&state, &request, &session, pendings, &to, &leaving)?;
            if let Some(remembered) = remembered {
                state.remember(&mut answer, &remembered)?;
            }
            return Ok(answer);
        }
        Err(error) => error,
    };
    if matches!(error, CompleteLoginError::Signature(_)) {
        pendings.save(&session).map_err(ApiError::server_error)?;
    }
    let asks_for_page = is_form && prefers_html(&request);
    if let CompleteLoginError::NotAdmitted(not_admitted) = &error
        && asks_for_page
    {
        let account = not_admitted.account.clone();
        let error = ApiError::from(error).about(about(&signed.wallet_address));
        return auth_page::turn_away(&state, (&request, &session), &pending, account, &error).await;
    }
    if asks_for_page {
        let challenge = recall_challenge(context, &pending, &signed.wallet_address, &signed.challenge);
        let notice = Some(Notice::of_login(&error));
        let reference = Reference::of(&request);
        let step = Step { challenge, notice, reference, ..Step::default() };
        let error = ApiError::from(error).about(about(&signed.wallet_address));
        state.log_refusal(&request, &error, None);
        return auth_page::render(&state, (&request, &session), &pending, step, error.status).await;
    }
    Err(ApiError::from(error).about(about(&signed.wallet_address)))
}

/// Counts the result for the wallet family: the family that signed, or for a refusal the family that the
/// address belongs to.
fn count(state: &AppState, wallet_address: &str, done: &Result<SignedIn, CompleteLoginError>) {
    let error = match done {
        Ok(SignedIn { family, .. }) => return state.metrics.login(LoginResult::SignedIn, namespace(family)),
        Err(error) => error,
    };
    let result = match error {
        CompleteLoginError::Signature(_) => LoginResult::BadSignature,
        CompleteLoginError::Challenge(_) | CompleteLoginError::ChallengeSpent => LoginResult::BadChallenge,
        CompleteLoginError::NotAdmitted(_) => LoginResult::NotAdmitted,
        CompleteLoginError::Email(_)
        | CompleteLoginError::Client(_)
        | CompleteLoginError::ScopesWithheld
        | CompleteLoginError::Invitation(_) => LoginResult::Refused,
        CompleteLoginError::Verifier(_) | CompleteLoginError::Store(_) => LoginResult::Unavailable,
    };
    let wallets = &state.context.wallets;
    let name = AccountName::read(wallet_address, None);
    let accounts = name.map_or_else(|_| Vec::new(), |name| wallets.recognize(name.address, name.chain));
    let family = accounts.first().map_or("", |found| namespace(&found.account.family));
    state.metrics.login(result, family);
}

/// Says why no pending request matches: no one registered the client, a field is missing, or the session does
/// not have the request.
async fn no_such_request(state: &AppState, client_id: &str, client_state: Option<&str>) -> ApiError {
    let is_document = DocumentUrl::parse(client_id, state.context.policy.public_url.is_loopback()).is_some();
    if client_id == ACCOUNT_PAGE || is_document {
        return ApiError::missing_session();
    }
    let registered = match ClientId::parse(client_id) {
        Some(id) => state.context.clients.find(id).await,
        None => Ok(None),
    };
    match registered {
        Err(error) => error.into(),
        Ok(None) => ApiError::from_error(unknown_client()),
        Ok(Some(_)) if client_state.is_none_or(str::is_empty) => {
            ApiError::invalid_request("state is missing")
        }
        Ok(Some(_)) => ApiError::missing_session(),
    }
}
