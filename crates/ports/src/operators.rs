//! Storage of what operators do: admin keys, files that declare, the desk, and the record of events.

pub(crate) mod admin_key_store;
pub(crate) mod declaration_store;
pub(crate) mod desk_store;
pub(crate) mod event_push_store;
pub(crate) mod event_store;
pub(crate) mod suspension_store;
