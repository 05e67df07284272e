//! The session cookie: a pending request, sealed with AES-256-GCM like the real server's session.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, CookieJar};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Floor;

const NAME: &str = "oauth_session";
/// The attributes of the real server's cookie.
const ATTRIBUTES: &str = "; HttpOnly; SameSite=Lax; Path=/; Max-Age=1800";
/// The real server's answer when a session has expired.
pub(super) const GONE: &str =
    "oauth_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0; Expires=Sat, 22 Nov 2025 05:24:45 GMT";

/// The content of the cookie.
#[derive(Serialize, Deserialize)]
pub(super) struct Session {
    #[serde(rename = "c")]
    pub(super) client: Uuid,
    #[serde(rename = "u")]
    pub(super) redirect_uri: String,
    #[serde(rename = "s")]
    pub(super) state: String,
    #[serde(rename = "e")]
    pub(super) expires_at: i64,
    #[serde(rename = "p")]
    pub(super) scope: String,
    /// The challenge's id, its hash in hex, and its expiry.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<(Uuid, String, i64)>,
}

impl Session {
    /// Opens the cookie of a request. Returns `None` if it has expired.
    pub(super) fn open(floor: &Floor, request: &HttpRequest, now: i64) -> Option<Self> {
        let sealed = request.cookie(NAME)?;
        let mut jar = CookieJar::new();
        jar.add_original(sealed);
        let plain = jar.private(&floor.cookie_key).get(NAME)?;
        let session: Self = serde_json::from_str(plain.value()).ok()?;
        (session.expires_at > now).then_some(session)
    }

    /// The value of `Set-Cookie`.
    pub(super) fn seal(&self, floor: &Floor) -> Option<String> {
        let mut jar = CookieJar::new();
        jar.private_mut(&floor.cookie_key).add(Cookie::new(NAME, serde_json::to_string(self).ok()?));
        let sealed = jar.get(NAME)?;
        Some(format!("{}{ATTRIBUTES}", sealed.encoded()))
    }
}
