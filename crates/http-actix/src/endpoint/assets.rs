//! `GET /assets/…`: scripts and styles from the binary. Their names hold a hash of their content, so that browsers may keep
//! them for ever.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Data, Path};

use crate::error::ApiError;
use crate::state::AppState;

/// Serves an asset by its hashed name.
pub(crate) async fn serve(state: Data<AppState>, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let asset = state.templates.asset(&name).ok_or_else(ApiError::not_found)?;
    Ok(HttpResponse::Ok()
        .content_type(asset.content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .body(asset.bytes.clone()))
}

/// Browsers ask for this one by themselves.
pub(crate) async fn favicon(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let asset = state.templates.asset_of("logo.svg").ok_or_else(ApiError::not_found)?;
    Ok(HttpResponse::Ok()
        .content_type(asset.content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=86400"))
        .body(asset.bytes.clone()))
}
