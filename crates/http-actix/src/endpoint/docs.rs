//! `GET /docs` and `GET /openapi.json`: the interactive description of the interface.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;
use crate::templates::Name;

#[derive(Serialize)]
struct DocsContext<'a> {
    host: &'a str,
}

/// Shows the interactive description.
pub(crate) async fn page(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let context = DocsContext { host: state.context.policy.public_url.authority() };
    let page = state.templates.render(Name::Docs, &context).map_err(ApiError::server_error)?;
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page))
}

/// Serves the OpenAPI document.
pub(crate) async fn document(state: Data<AppState>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, "public, max-age=300"))
        .body(state.openapi.clone())
}
