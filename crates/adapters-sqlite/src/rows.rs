//! Rows, and how they become values of the domain. An impossible row is reported, never guessed at.

pub(crate) mod access_token;
