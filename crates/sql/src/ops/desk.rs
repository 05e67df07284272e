//! What the desk of operators shows and keeps.

pub mod overview;
pub mod proposals;
pub mod suspensions;
