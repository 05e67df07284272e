//! Plain values: ids, secrets, numbers, texts that people can read, and how long things last.

pub mod hour;
pub mod id;
pub mod lifetimes;
pub mod listener;
pub mod look_alike;
pub mod number;
pub mod readable;
pub mod repeat_key;
pub mod secret;
