//! What operators do: one file for each act, and what they read.
//!
//! The command line, files, the admin interface and the desk call what is here. It leans on the use-cases of clients
//! and people; they do not know that it exists.

pub mod admin_keys;
pub mod declared;
pub mod desk;
pub mod events;
pub mod operate;
pub mod people;
pub mod qr_code;
pub mod saved;

#[cfg(test)]
mod tests;
