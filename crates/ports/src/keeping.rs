//! Storage as a whole: archives, epochs, signing keys, and forgetting.

pub mod archive;
pub(crate) mod epoch_store;
pub(crate) mod key_store;
pub(crate) mod upkeep;
