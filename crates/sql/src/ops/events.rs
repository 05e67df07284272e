//! What happened is recorded, sealed, read, pushed and forgotten.

pub mod event_push;
pub mod forget_person;
pub mod fulfil;
pub mod read_record;
pub mod record_event;
