//! Translates HTTP to use-cases and back; the only crate that knows both.
//!
//! A handler extracts, calls one use-case and renders. What every request meets before and after its handler is in
//! `edge`; how a refusal becomes a status and a body is in `error` and nowhere else.

mod edge;
mod endpoint;
mod error;
mod extract;
mod headers;
mod openapi;
mod origin;
mod rate_limit;
mod routes;
mod server;
mod session;
mod state;
mod templates;

pub use openapi::openapi_json;
pub use server::{HttpSettings, Registration, Running, StartError, start};
