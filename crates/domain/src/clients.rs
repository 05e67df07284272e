//! Clients: what they register, how they prove who they are, and where they can send people back to.

pub mod client;
pub mod client_assertion;
pub mod client_auth;
pub mod client_change;
pub mod client_document;
pub mod client_field;
pub mod client_secrets;
pub mod client_view;
pub mod contact;
pub mod redirect_uri;
pub mod registration;
pub mod sector;
