//! Saving everything that a database holds, and bringing it back. One work of a command each; no server asks for it.

pub mod copy;
pub mod fill;
pub mod ours;
pub mod running;
pub mod save;
