//! Requests that wait for a person.

pub mod requests;
