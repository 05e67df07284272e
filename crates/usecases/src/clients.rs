//! Clients register, authenticate, and are changed.

pub mod change_client;
pub mod client_view;
pub mod declare_resource;
pub mod delete_client;
pub mod judge_sector;
pub mod list_clients;
pub mod open_resource;
pub mod read_client;
pub mod register_client;
pub mod registration;
pub mod rotate_client_secret;
pub mod update_client;

pub(crate) mod authenticate_client;
pub(crate) mod client_document;
pub(crate) mod open_configuration;
