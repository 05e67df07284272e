//! The names that the security schemes have in the document.

pub(crate) const ACCESS_TOKEN: &str = "accessToken";
pub(crate) const REGISTRATION_TOKEN: &str = "registrationToken";
/// Client credentials in the `Authorization` header.
pub(crate) const CLIENT_BASIC: &str = "clientBasic";
/// The cookie between `/oauth/authorize` and the login.
pub(crate) const SESSION: &str = "session";
/// The cookie of a remembered sign-in.
pub(crate) const LOGIN: &str = "login";
