//! What operators do: acts, the desk with what it counts, admin keys and files that declare.

pub mod act;
pub mod admin_key;
pub mod declaration;
pub mod desk;
pub mod figure;
