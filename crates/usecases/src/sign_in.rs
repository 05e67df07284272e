//! From an authorization request to its answer. A browser, a device or a pushed request asks, and a person
//! signs or denies. Signing out is here too.

pub mod begin_authorization;
pub mod begin_device;
pub mod complete_login;
pub mod continue_session;
pub mod deny_authorization;
pub mod deny_device;
pub mod describe_sign_in;
pub mod find_device;
pub mod issue_challenge;
pub mod open_invitation;
pub mod push_authorization;
pub mod sign_out;
pub mod verify_text;
