//! Clients, and the resources that are open to them.

pub mod change_access;
pub mod change_resources;
pub mod client_secrets;
pub mod client_table;
pub mod client_uses;
pub mod if_unchanged;
pub mod manage_clients;
pub mod register_client;
pub mod resources;
pub mod sort_clients;
