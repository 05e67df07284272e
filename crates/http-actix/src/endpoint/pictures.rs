//! `GET /pictures/…`: the picture of a user, for whoever shows one. Every id has one, so that nobody learns which ids there are.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderName};
use actix_web::web::Path;
use countersign_domain::id::UserId;
use countersign_domain::identicon::identicon;

use crate::error::ApiError;

/// The file may be opened by itself, and then nothing in it may do anything.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Draws the picture of a user.
pub(crate) async fn show(user_id: Path<String>) -> Result<HttpResponse, ApiError> {
    let user = UserId::parse(&user_id).filter(|user| user.to_string() == *user_id);
    let user = user.ok_or_else(ApiError::not_found)?;
    Ok(HttpResponse::Ok()
        .content_type("image/svg+xml")
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"))
        .body(identicon(user)))
}
