//! What a running server does beside its requests: forgetting, sealing, pushing, rotating, watching.

pub(crate) mod clock_watch;
pub(crate) mod epoch_watch;
pub(crate) mod event_keeper;
pub(crate) mod event_pusher;
pub(crate) mod event_watch;
pub(crate) mod key_keeper;
pub(crate) mod lease;
pub(crate) mod replica_keeper;
pub(crate) mod upkeeper;
