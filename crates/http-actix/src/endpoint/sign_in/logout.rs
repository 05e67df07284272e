//! `GET` and `POST /oauth/logout`: a client sends a person to sign out (OpenID Connect RP-Initiated Logout
//! 1.0).

pub(crate) mod description;

use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::event::Actor;
use countersign_domain::parameters::{Parameters, Repeated};
use countersign_domain::secret::Secret;
use countersign_usecases::sign_in::sign_out::{
    Back, SignOutError, SignOutJudged, SignOutRequest, SignOutStep, judge_sign_out, sign_out,
};
use serde::Serialize;

use crate::browser::forms::Action;
use crate::browser::login_cookie;
use crate::endpoint::steps::back_channel;
use crate::endpoint::steps::farewell::{Farewell, signed_out};
use crate::error::ApiError;
use crate::extract::body::{Body, BodyKind};
use crate::extract::origin::{again_by_get, require_ours};
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// The page that asks the person.
#[derive(Serialize)]
struct LogoutPage<'a> {
    account: String,
    client: Option<&'a str>,
    fields: Vec<(&'static str, &'a str)>,
    /// The secret of the form.
    form: String,
}

/// Signs out or asks, depending on the parameters in the query.
pub(crate) async fn get(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    answer(&state, &request, &Parameters::from_form(request.query_string()), false).await
}

/// The same by a form. Our own page also posts here; its button sends `confirm`.
pub(crate) async fn post(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let pairs = if body.kind == BodyKind::Form { body.pairs()? } else { Vec::new() };
    let public_url = &state.context.policy.public_url;
    let address = format!("{}/oauth/logout", public_url.path());
    let cookie = login_cookie::name(public_url.is_https());
    if let Some(again) = again_by_get(&request, cookie, &address, &pairs) {
        return Ok(again);
    }
    let parameters = Parameters::new(pairs);
    let confirmed = parameters.once("confirm").map_err(repeated)?.is_some();
    if confirmed {
        require_ours(&request, public_url)?;
        let sent = read(&parameters).map_err(repeated)?;
        let presented = parameters.once("form").map_err(repeated)?;
        state.forms(&request).require(&Action::SignOut { fields: &fields(&sent) }, presented)?;
    }
    answer(&state, &request, &parameters, confirmed).await
}

async fn answer(
    state: &Data<AppState>,
    request: &HttpRequest,
    parameters: &Parameters,
    confirmed: bool,
) -> Result<HttpResponse, ApiError> {
    let sent = read(parameters).map_err(repeated)?;
    let language = Language::of(request, parameters.once("ui_locales").map_err(repeated)?);
    let judged = judge_sign_out(&state.context, &sent, &state.browser(request)).await;
    let SignOutJudged { step, client, back } =
        judged.map_err(|error: SignOutError| ApiError::from(error).always_as_page())?;
    match step {
        SignOutStep::Ask(session) if !confirmed => {
            let client = client.as_ref().map(|client| client.shown_name());
            let fields = fields(&sent);
            let form = state.forms(request).secret(&Action::SignOut { fields: &fields });
            let page =
                LogoutPage { account: session.account.shortened(), client: client.as_deref(), fields, form };
            state.pages.show(request, language, Name::Logout, StatusCode::OK, &page)
        }
        SignOutStep::NotSignedIn => signed_out(state, request, language, Farewell::linked(back.as_ref())),
        SignOutStep::Ask(_) | SignOutStep::AtOnce => {
            let cause = state.cause(request, Actor::Person);
            let notices = sign_out(&state.context, &cause, &state.browser(request)).await?;
            back_channel::tell(state, notices);
            let mut answer = match &back {
                // The `form-action` of our page would block a redirect.
                Some(_) if confirmed => {
                    signed_out(state, request, language, Farewell::leading(back.as_ref()))?
                }
                Some(Back { address, .. }) => {
                    HttpResponse::SeeOther().insert_header((header::LOCATION, address.as_str())).finish()
                }
                None => signed_out(state, request, language, Farewell::default())?,
            };
            state.forget(&mut answer)?;
            Ok(answer)
        }
    }
}

fn read(parameters: &Parameters) -> Result<SignOutRequest, Repeated> {
    let once = |name| parameters.once(name).map(|value| value.map(ToOwned::to_owned));
    Ok(SignOutRequest {
        id_token_hint: once("id_token_hint")?.map(Secret::new),
        client_id: once("client_id")?,
        post_logout_redirect_uri: once("post_logout_redirect_uri")?,
        state: once("state")?,
    })
}

/// The fields that our page sends back when its button is pressed.
fn fields(sent: &SignOutRequest) -> Vec<(&'static str, &str)> {
    let fields = [
        ("id_token_hint", sent.id_token_hint.as_ref().map(Secret::expose)),
        ("client_id", sent.client_id.as_deref()),
        ("post_logout_redirect_uri", sent.post_logout_redirect_uri.as_deref()),
        ("state", sent.state.as_deref()),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn repeated(repeated: Repeated) -> ApiError {
    ApiError::invalid_request(repeated.to_string()).always_as_page()
}
