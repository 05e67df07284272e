//! Endpoints of the server itself: its front page, its documents, its scripts and styles, and its probes.

pub mod assets;
pub(crate) mod discovery;
pub(crate) mod health;
pub(crate) mod home;
pub(crate) mod metrics;
pub(crate) mod playground;
pub(crate) mod received;
