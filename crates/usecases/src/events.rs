//! Events: read, sealed, verified, and forgotten when their time is over.

pub mod list_events;
pub mod push_events;
pub mod retire_events;
pub mod seal_events;
pub mod verify_events;
