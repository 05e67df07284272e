//! Requests that a page of another site caused are refused at challenge, login and deny (A-047, A-056, B-056).

use actix_web::HttpRequest;
use actix_web::http::header;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::public_url::PublicUrl;

use crate::error::ApiError;

/// Does a browser say that a page of another site sent this request? Then it kept our `SameSite=Lax` cookies back from a form.
pub(crate) fn is_cross_site(request: &HttpRequest) -> bool {
    request.headers().get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}

/// Refuses a request that a browser says came from elsewhere. A program without these headers is no browser, and
/// a browser too old to send them does not send our `SameSite` cookie either.
pub(crate) fn require_ours(request: &HttpRequest, public_url: &PublicUrl) -> Result<(), ApiError> {
    let foreign =
        || ApiError::new(OAuthErrorCode::ForeignOrigin, "the request comes from a page of another site");
    let text = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    if text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(foreign());
    }
    // Our pages forbid a referrer, and then a form's `Origin` is `null` even on the same site.
    match text(header::ORIGIN.as_str()) {
        None | Some("null") => Ok(()),
        Some(origin) if origin == public_url.origin() => Ok(()),
        Some(_) => Err(foreign()),
    }
}
