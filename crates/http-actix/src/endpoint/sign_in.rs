//! The endpoints from an authorization request to its answer, and those for signing out.

pub(crate) mod answer;
pub(crate) mod auth_page;
pub(crate) mod authorize;
pub mod challenge;
pub(crate) mod continue_session;
pub(crate) mod deny;
pub(crate) mod device;
pub(crate) mod device_authorization;
pub(crate) mod join;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod push;
pub(crate) mod verify;
