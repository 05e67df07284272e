//! `GET /docs`: the interactive description of the interface, of which `openapi` makes the document.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::error::ApiError;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// The page is the same for everybody: its script reads the document.
#[derive(Serialize)]
struct DocsContext {}

/// Shows the interactive description.
pub(crate) async fn page(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    state.pages.show(&request, Language::of(&request, None), Name::Docs, StatusCode::OK, &DocsContext {})
}
