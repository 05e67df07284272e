//! Translates HTTP to use-cases and back; the only crate that knows both.
//!
//! A handler extracts, calls one use-case and renders. What every request meets before and after its handler is in
//! `edge`; how a refusal becomes a status and a body is in `error` and nowhere else.

mod accept;
mod back_channel;
mod connection;
mod cookies;
mod edge;
mod endpoint;
mod error;
mod error_page;
mod extract;
mod forms;
mod headers;
#[cfg(test)]
mod invariants;
mod language;
mod login_cookie;
mod mail;
mod metrics_server;
mod openapi;
mod origin;
mod page;
mod polls;
mod rate_limit;
mod request_id;
mod routes;
mod server;
mod session;
mod state;
mod templates;

pub use connection::ConnectionLimits;
pub use metrics_server::{metrics, serve_metrics};
pub use openapi::openapi_json;
pub use server::{HttpSettings, Registration, Running, StartError, start};
