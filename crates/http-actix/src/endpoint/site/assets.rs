//! `GET /assets/…`: scripts and styles from the binary. Their names contain a hash of their content, so
//! browsers can keep them forever.

pub(crate) mod description;

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};

use crate::error::ApiError;
use crate::extract::{accept, header_text};
use crate::page::templates::{Asset, SVG};
use crate::state::AppState;

/// A picture may be opened by itself. Then a script in it must not run with our origin.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// Serves an asset by its hashed name.
pub(crate) async fn serve(
    state: Data<AppState>,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let asset = state.pages.templates.asset(&name).ok_or_else(ApiError::not_found)?;
    Ok(answer(&request, asset, "public, max-age=31536000, immutable"))
}

/// Serves the logo, which browsers request by themselves.
pub(crate) async fn favicon(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let asset = state.pages.templates.asset_of("logo.svg").ok_or_else(ApiError::not_found)?;
    Ok(answer(&request, asset, "public, max-age=86400"))
}

/// Answers with the asset, compressed if the browser accepts that.
pub fn answer(request: &HttpRequest, asset: &Asset, cache: &'static str) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    answer.insert_header((header::CACHE_CONTROL, cache));
    if asset.content_type == SVG {
        answer.insert_header((header::CONTENT_SECURITY_POLICY, PICTURE_POLICY));
    }
    encoded(request, asset, answer)
}

/// The body of an answer, compressed for those who take it so.
pub fn encoded(request: &HttpRequest, asset: &Asset, mut answer: HttpResponseBuilder) -> HttpResponse {
    answer.content_type(asset.content_type);
    let Some(gzip) = asset.gzip() else { return answer.body(asset.bytes.clone()) };
    answer.insert_header((header::VARY, "Accept-Encoding"));
    let accepted = header_text(request.headers(), header::ACCEPT_ENCODING);
    if accept::weight(accepted.unwrap_or_default(), "gzip") > 0.0 {
        answer.insert_header((header::CONTENT_ENCODING, "gzip")).body(gzip.clone())
    } else {
        answer.body(asset.bytes.clone())
    }
}

#[cfg(test)]
mod tests;
