//! Events as operators read them, and as they verify them.

pub mod accept_record;
pub mod list_events;
pub mod verify_events;
