//! Events: sealed, authenticated, pushed, and forgotten when their time is over. Operators read and verify them.

pub mod authenticate;
pub mod event_view;
pub mod hosts;
pub mod push_events;
pub mod retire_events;
pub mod seal_error;
pub mod seal_events;
pub mod waiting_events;
