//! `GET /docs` and `GET /openapi.json`: the interactive description of the interface.

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::error::ApiError;
use crate::language::Language;
use crate::state::AppState;
use crate::templates::Name;

/// The page is the same for everybody: its script reads the document.
#[derive(Serialize)]
struct DocsContext {}

/// Shows the interactive description.
pub(crate) async fn page(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    state.page(&request, Language::of(&request, None), Name::Docs, &DocsContext {})
}

/// Serves the OpenAPI document.
pub(crate) async fn document(state: Data<AppState>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, "public, max-age=300"))
        .body(state.openapi.clone())
}
