//! `GET /playground`: the whole flow in the browser, with a throwaway wallet, for developers.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::own_origin::PLAYGROUND;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::scope::Scope;
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::settings::Registration;
use crate::state::AppState;

#[derive(Serialize)]
struct PlaygroundContext<'a> {
    issuer: &'a str,
    redirect_uri: String,
    registration: &'static str,
    scopes: [&'static str; Scope::ALL.len()],
    /// Does this server show what applications received?
    shows_received: bool,
}

/// The redirect URI of the clients that the page registers: the page itself.
pub(crate) fn redirect_uri(public_url: &PublicUrl) -> String {
    public_url.join(PLAYGROUND)
}

/// Shows the page. If the playground is off, this path does not exist.
pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if !state.playground {
        return Err(ApiError::not_found());
    }
    let public_url = &state.context.policy.public_url;
    let context = PlaygroundContext {
        issuer: public_url.as_str(),
        redirect_uri: redirect_uri(public_url),
        registration: match state.registration {
            Registration::Open => "open",
            Registration::Token(_) => "token",
            Registration::Closed => "closed",
        },
        scopes: Scope::ALL.map(Scope::name),
        shows_received: state.received.is_some(),
    };
    state.pages.show(&request, Language::of(&request, None), Name::Playground, StatusCode::OK, &context)
}
