//! Rows, and how they become values of the domain. An impossible row is reported, never guessed at.

pub(crate) mod access_token;
pub(crate) mod admin_key;
pub(crate) mod block;
pub(crate) mod checkpoint;
pub(crate) mod client;
pub(crate) mod consent;
pub(crate) mod device_request;
pub(crate) mod email;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod grant;
pub(crate) mod group;
pub(crate) mod login_session;
pub(crate) mod person;
pub(crate) mod proposal;
pub(crate) mod resource;
pub(crate) mod signing_key;
pub(crate) mod token;
pub(crate) mod wallet;
