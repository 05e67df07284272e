//! Rows, and how they become values of the domain. An impossible row is reported, never guessed at.

pub mod access_token;
pub mod admin_key;
pub mod block;
pub mod checkpoint;
pub mod client;
pub mod consent;
pub mod device_request;
pub mod email;
pub mod event;
pub mod grant;
pub mod group;
pub mod invitation;
pub mod login_session;
pub mod person;
pub mod proposal;
pub mod resource;
pub mod signing_key;
pub mod token;
pub mod wallet;
