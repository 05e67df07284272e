//! `GET /`: what this server is, and where to look.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

#[derive(Serialize)]
struct HomeContext<'a> {
    issuer: &'a str,
}

pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let context = HomeContext { issuer: state.context.policy.public_url.as_str() };
    state.pages.show(&request, Language::of(&request, None), Name::Home, StatusCode::OK, &context)
}
