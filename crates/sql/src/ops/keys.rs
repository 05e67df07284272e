//! Signing keys, keys of the admin interface, and what their requests create.

pub mod admin_keys;
pub mod create_once;
pub mod signing_keys;
