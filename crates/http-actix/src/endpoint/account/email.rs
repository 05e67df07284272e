//! The e-mail address on the account page, and the page behind the link that confirms it. Mail scanners open
//! that link too. Therefore only the button on the page changes anything, and only if the user who gave the
//! address is signed in.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_domain::event::Actor;
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::secret::Secret;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::SharedAddress;
use countersign_usecases::account::change_email::{
    ChangeEmailError, admit_email_change, put_email, remove_email,
};
use countersign_usecases::account::confirm_email::{ConfirmEmailError, LinkOpened, confirm_email, open_link};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use super::page::{Step, kind_of};
use super::trouble::Trouble;
use super::{PlainForm, back, refuse_change, request_of_ours, show_again, sign_in_for};
use crate::browser::forms::Action;
use crate::endpoint::steps::done::Done;
use crate::endpoint::steps::mail;
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::body::{Body, required};
use crate::extract::query_value;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// An e-mail address to put on file.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct EmailRequest {
    /// The address. If it is already on file, it gets a new link.
    email: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// The link that a person followed.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct ConfirmEmailRequest {
    /// The secret in the link.
    token: Option<String>,
    /// `yes` if the person knows that another account here has confirmed the same address.
    shared: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// The page behind a link.
#[derive(Default, Serialize)]
struct LinkPage {
    /// `ask`, `shared`, `sign_in`, `confirmed` or `invalid`.
    step: &'static str,
    token: Option<String>,
    /// The address that would be confirmed.
    address: Option<String>,
    /// The wallet whose account it is for.
    wallet: Option<WalletShown>,
    /// The wallet that is signed in instead, if any is.
    signed_in_as: Option<WalletShown>,
    /// The secret of the form.
    form: Option<String>,
}

#[derive(Serialize)]
struct WalletShown {
    short: String,
    kind: String,
}

/// With this parameter, the page redirects to the sign-in for the account that the link is for.
const SIGN_IN: &str = "sign_in";
/// The value of the field `shared` if the person agrees.
const SHARED: &str = "yes";

/// Puts an address on file, and sends the link that confirms it.
pub(crate) async fn put(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Mail)?;
    let sent: EmailRequest = body.either()?;
    state.forms(&request).require(&Action::PutEmail, sent.form.as_deref())?;
    if let Err(error) = admit_email_change(&state.context, &state.browser(&request)).await {
        return refuse_change(&state, &request, error).await;
    }
    let address = sent.email.unwrap_or_default();
    let again = |trouble| Step { email: Some(&address), ..Step::trouble(trouble) };
    if let Ok(mailbox) = EmailAddress::parse(&address)
        && let Err(error) = state.admit_mail_to(&mailbox)
    {
        return show_again(&state, &request, error, again(Trouble::TooManyMails)).await;
    }
    let changed = match put_email(&state.context, &state.browser(&request), &address).await {
        Ok(changed) => changed,
        Err(ChangeEmailError::Account(error)) => return refuse_change(&state, &request, error).await,
        Err(ChangeEmailError::Email(rejected)) => {
            let trouble = match rejected {
                EmailRejected::Malformed => Trouble::BadEmail,
                EmailRejected::Reserved(_) => Trouble::ReservedEmail,
            };
            return show_again(&state, &request, rejected.into(), again(trouble)).await;
        }
    };
    let done = match (&changed.link, changed.already_verified) {
        (Some(_), _) => Done::LinkSent,
        (None, true) => Done::EmailKept,
        (None, false) => Done::EmailAdded,
    };
    mail::send_link(&state, Language::of(&request, None), changed.link);
    Ok(back(&state, Some(done)))
}

/// Takes the address off file.
pub(crate) async fn remove(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    PlainForm::read(&state, &request, &body, Action::RemoveEmail)?;
    match remove_email(&state.context, &state.browser(&request)).await {
        Ok(_) => Ok(back(&state, Some(Done::EmailRemoved))),
        Err(error) => refuse_change(&state, &request, error).await,
    }
}

/// Shows the page behind the link; this changes nothing. If the link is for an account that is not signed in,
/// the person can go on from there to sign in, and then comes back.
pub(crate) async fn ask(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let token = query_value(&request, "token").map_err(ApiError::always_as_page)?;
    let token = token.map(|token| Secret::new(token.as_ref()));
    let Some(token) = token.filter(|token| token.id().is_some()) else {
        return match query_value(&request, Done::PARAMETER).map_err(ApiError::always_as_page)? {
            Some(_) => page(&state, &request, LinkPage::of("confirmed"), StatusCode::OK),
            None => page(&state, &request, LinkPage::of("invalid"), StatusCode::BAD_REQUEST),
        };
    };
    let opened = open_link(&state.context, &state.browser(&request), &token).await?;
    if matches!(opened, LinkOpened::ForAnother { .. })
        && query_value(&request, SIGN_IN).map_err(ApiError::always_as_page)?.is_some()
    {
        let here = state.context.policy.public_url.join("/account/email/confirm");
        let page = RedirectUri::from_trusted(format!("{here}?token={}", token.expose()));
        let requester = Requester::AccountPage { page };
        let oldest_sign_in = Some(state.context.clock.now());
        let pending = PendingAuthorization { requester, oldest_sign_in, ..request_of_ours(&state) };
        return sign_in_for(&state, &session, pending, StatusCode::FOUND);
    }
    show_link(&state, &request, &token, opened)
}

/// Confirms the address that the link was mailed to.
pub(crate) async fn confirm(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Login)?;
    let sent: ConfirmEmailRequest = body.either()?;
    let token = required(sent.token, "token")?;
    let shared = sent.shared.unwrap_or_default();
    let action = Action::ConfirmEmail { token: &token, shared: &shared };
    state.forms(&request).require(&action, sent.form.as_deref())?;
    let agreement = if shared == SHARED { SharedAddress::Agreed } else { SharedAddress::Refused };
    let (secret, browser) = (Secret::new(token.as_str()), state.browser(&request));
    let cause = state.cause(&request, Actor::Person);
    let error = match confirm_email(&state.context, &cause, &browser, &secret, agreement).await {
        Ok(()) => {
            let base = state.context.policy.public_url.path();
            let to = format!("{base}/account/email/confirm?done=email_confirmed");
            return Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish());
        }
        Err(error) => error,
    };
    if !prefers_html(&request) {
        return Err(error.into());
    }
    match error {
        ConfirmEmailError::LinkInvalid => {
            page(&state, &request, LinkPage::of("invalid"), StatusCode::BAD_REQUEST)
        }
        ConfirmEmailError::NotTheirs => {
            let opened = open_link(&state.context, &browser, &secret).await?;
            show_link(&state, &request, &secret, opened)
        }
        ConfirmEmailError::SharedAddress => {
            let opened = open_link(&state.context, &browser, &secret).await?;
            let form = state.forms(&request).secret(&Action::ConfirmEmail { token: &token, shared: SHARED });
            let shown = LinkPage::asking(&state, &token, opened);
            let shown = LinkPage { step: "shared", form: Some(form), ..shown };
            page(&state, &request, shown, StatusCode::CONFLICT)
        }
        ConfirmEmailError::Store(error) => Err(error.into()),
    }
}

/// Shows what a link is for.
fn show_link(
    state: &AppState,
    request: &HttpRequest,
    token: &Secret,
    opened: LinkOpened,
) -> Result<HttpResponse, ApiError> {
    let status = match opened {
        LinkOpened::Invalid => StatusCode::BAD_REQUEST,
        LinkOpened::ForAnother { .. } | LinkOpened::Ask { .. } => StatusCode::OK,
    };
    let form = state.forms(request).secret(&Action::ConfirmEmail { token: token.expose(), shared: "" });
    let shown = LinkPage { form: Some(form), ..LinkPage::asking(state, token.expose(), opened) };
    page(state, request, shown, status)
}

impl LinkPage {
    fn of(step: &'static str) -> Self {
        Self { step, ..Self::default() }
    }

    fn asking(state: &AppState, token: &str, opened: LinkOpened) -> Self {
        let shown = |account: WalletAccount| WalletShown {
            short: account.shortened(),
            kind: kind_of(&*state.context.wallets, &account),
        };
        match opened {
            LinkOpened::Invalid => Self::of("invalid"),
            LinkOpened::ForAnother { wallet, signed_in_as } => Self {
                token: Some(token.to_owned()),
                wallet: Some(shown(wallet)),
                signed_in_as: signed_in_as.map(shown),
                ..Self::of("sign_in")
            },
            LinkOpened::Ask { address, wallet } => Self {
                token: Some(token.to_owned()),
                address: Some(address.to_string()),
                wallet: Some(shown(wallet)),
                ..Self::of("ask")
            },
        }
    }
}

fn page(
    state: &AppState,
    request: &HttpRequest,
    shown: LinkPage,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    state.pages.show(request, Language::of(request, None), Name::AccountEmail, status, &shown)
}
