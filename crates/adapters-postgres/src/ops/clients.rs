//! Clients, and the resources that are open to them.

pub(crate) mod note_secret_uses;
