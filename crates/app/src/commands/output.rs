//! What the commands print, by subject: as text for people, or as JSON for scripts.

pub(crate) mod client_output;
pub(crate) mod event_output;
pub(crate) mod people_output;
pub(crate) mod resource_output;
