//! The security schemes by their names in the document.

/// Access tokens.
pub(crate) const ACCESS_TOKEN: &str = "accessToken";
/// Registration access tokens.
pub(crate) const REGISTRATION_TOKEN: &str = "registrationToken";
/// Clients that send their secret in a header.
pub(crate) const CLIENT_BASIC: &str = "clientBasic";
/// The cookie between `/oauth/authorize` and the login.
pub(crate) const SESSION: &str = "session";
/// The cookie of a remembered sign-in.
pub(crate) const LOGIN: &str = "login";
