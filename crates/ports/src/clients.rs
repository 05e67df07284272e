//! Storage of clients and of the resources that they can name.

pub(crate) mod client_store;
pub(crate) mod resource_store;
