//! What operators do: acts, the desk, admin keys and files that declare.

pub mod act;
pub mod admin_key;
pub mod declaration;
pub mod desk;
