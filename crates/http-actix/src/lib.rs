//! Translates HTTP to use-cases and back; the only crate that knows both.
//!
//! A handler extracts, calls one use-case and renders. What every request meets before and after its handler is in
//! `server::edge`; how a refusal becomes a status and a body is in `error` and nowhere else.

mod browser;
mod endpoint;
mod error;
mod extract;
#[cfg(test)]
mod invariants;
mod limits;
mod openapi;
mod page;
mod server;
mod settings;
mod state;

pub use limits::connection::ConnectionLimits;
pub use openapi::openapi_json;
pub use server::metrics_server::{metrics, serve_metrics};
pub use server::{Running, StartError, start};
pub use settings::{HttpSettings, Registration};
