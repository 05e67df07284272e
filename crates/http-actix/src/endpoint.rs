//! One file for each endpoint: what it reads, what it answers, and the handler between.

pub(crate) mod account;
pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod auth_page;
pub(crate) mod authorize;
pub(crate) mod challenge;
pub(crate) mod clients;
pub(crate) mod continue_session;
pub(crate) mod deny;
pub(crate) mod device;
pub(crate) mod device_authorization;
pub(crate) mod discovery;
pub(crate) mod docs;
pub(crate) mod health;
pub(crate) mod home;
pub(crate) mod introspect;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod pictures;
pub(crate) mod playground;
pub(crate) mod push;
pub(crate) mod revoke;
pub(crate) mod token;
pub(crate) mod userinfo;
pub(crate) mod verify;
pub(crate) mod wallets;
