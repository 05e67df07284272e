//! Keys of the admin interface: an operator creates, lists and revokes them, and the interface asks whether one is
//! good.
//!
//! They are managed only at the terminal. A key that could create keys could create a more powerful one.

pub mod admit_admin_key;
pub mod begin_repeatable;
pub mod create_admin_key;
pub mod list_admin_keys;
pub mod revoke_admin_key;
