//! Refuses requests that a page of another site caused, wherever something changes (A-047, A-056, B-056,
//! F-02). A form that arrives without its cookies is sent again by GET.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::public_url::PublicUrl;

use crate::error::ApiError;

/// Repeats the request by GET, if it is a form of another site and came without the cookie. Browsers do not
/// send `SameSite=Lax` cookies with such a form, but they do with GET. If we answered the form directly, we
/// would overwrite the browser's session with a new one (B-063).
pub(crate) fn again_by_get(
    request: &HttpRequest,
    cookie: &str,
    address: &str,
    pairs: &[(String, String)],
) -> Option<HttpResponse> {
    let is_cross_site = request.headers().get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if !is_cross_site || request.cookie(cookie).is_some() {
        return None;
    }
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let to = format!("{address}?{query}");
    Some(HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish())
}

/// Refuses a request that comes from elsewhere according to the browser. A request without these headers
/// comes from a program, or from a browser that is too old to send them and does not send our `SameSite`
/// cookie either.
pub(crate) fn require_ours(request: &HttpRequest, public_url: &PublicUrl) -> Result<(), ApiError> {
    let foreign =
        || ApiError::new(OAuthErrorCode::ForeignOrigin, "the request comes from a page of another site");
    let text = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    if text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(foreign());
    }
    // A sandboxed frame sends `null`, and so does a page of another site without a referrer. Our own pages
    // declare `same-origin` in their head, so their forms say where they come from.
    match text(header::ORIGIN.as_str()) {
        None => Ok(()),
        Some(origin) if origin == public_url.origin() => Ok(()),
        Some(_) => Err(foreign()),
    }
}
