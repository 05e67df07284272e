//! `GET /`: what this server is, and where to look.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;
use crate::templates::Name;

#[derive(Serialize)]
struct HomeContext<'a> {
    host: &'a str,
    issuer: &'a str,
}

/// Shows the page.
pub(crate) async fn show(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let public_url = &state.context.policy.public_url;
    let context = HomeContext { host: public_url.authority(), issuer: public_url.as_str() };
    let page = state.templates.render(Name::Home, &context).map_err(ApiError::server_error)?;
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page))
}
