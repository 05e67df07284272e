//! What a browser stores for us and sends back: cookies, the session that is sealed in one of them, and the
//! secrets in our forms.

pub(crate) mod cookies;
pub mod forms;
pub(crate) mod login_cookie;
pub mod session;
