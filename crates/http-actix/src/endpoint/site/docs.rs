//! `GET /docs`: the page where people read and try out the API. It shows the document that `openapi` makes.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// Empty, because the page is the same for everyone: its script reads the document.
#[derive(Serialize)]
struct DocsContext {}

pub(crate) async fn page(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    state.pages.show(&request, Language::of(&request, None), Name::Docs, StatusCode::OK, &DocsContext {})
}
