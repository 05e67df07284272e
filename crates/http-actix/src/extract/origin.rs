//! Requests that a page of another site caused are refused wherever something changes (A-047, A-056, B-056, F-02); a form that lost its
//! cookies on the way is sent once more.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::public_url::PublicUrl;

use crate::error::ApiError;

/// The same request by GET, for a form of another site that came without the cookie: browsers keep `SameSite=Lax` cookies back from
/// it, and GET brings them. Answered as it came, it would write a new session over the one that it did not bring (B-063).
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

/// Refuses a request that a browser says came from elsewhere. A program without these headers is no browser, and
/// a browser too old to send them does not send our `SameSite` cookie either.
pub(crate) fn require_ours(request: &HttpRequest, public_url: &PublicUrl) -> Result<(), ApiError> {
    let foreign =
        || ApiError::new(OAuthErrorCode::ForeignOrigin, "the request comes from a page of another site");
    let text = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    if text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(foreign());
    }
    // `null` is what a sandboxed frame or a page of another site without a referrer says. Our own pages say `same-origin` in their head,
    // so that their forms say where they come from.
    match text(header::ORIGIN.as_str()) {
        None => Ok(()),
        Some(origin) if origin == public_url.origin() => Ok(()),
        Some(_) => Err(foreign()),
    }
}
