//! `GET /docs` and `GET /openapi.json`: the interactive description of the interface.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::endpoint::assets;
use crate::error::ApiError;
use crate::language::Language;
use crate::state::AppState;
use crate::templates::Name;

/// The page is the same for everybody: its script reads the document.
#[derive(Serialize)]
struct DocsContext {}

/// Shows the interactive description.
pub(crate) async fn page(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    state.page(&request, Language::of(&request, None), Name::Docs, StatusCode::OK, &DocsContext {})
}

/// Serves the OpenAPI document.
pub(crate) async fn document(state: Data<AppState>, request: HttpRequest) -> HttpResponse {
    assets::answer(&request, state.openapi(), "public, max-age=300")
}
