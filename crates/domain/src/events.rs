//! What happened, what it was about, and the checkpoints that seal it.

pub mod checkpoint;
pub mod event;
pub mod event_push;
pub mod subject;
