//! `GET /pictures/…`: the picture of a user, for any site that shows it. Every possible name has a picture,
//! so that no one can find out which names are in use. Neither the name nor the picture reveals whose it is.

pub(crate) mod description;

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderName};
use actix_web::web::Path;
use countersign_domain::identicon::identicon;
use countersign_domain::picture::PictureName;

use crate::error::ApiError;

/// Someone may open the file by itself; then nothing in it may run or load.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Draws the picture of a user.
pub(crate) async fn show(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let name = PictureName::parse(&name).ok_or_else(ApiError::not_found)?;
    Ok(HttpResponse::Ok()
        .content_type("image/svg+xml")
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"))
        .body(identicon(name.as_bytes())))
}
