//! What a browser keeps for us and brings back: cookies, the session sealed in one of them, and the secrets of our forms.

pub(crate) mod cookies;
pub(crate) mod forms;
pub(crate) mod login_cookie;
pub(crate) mod session;
