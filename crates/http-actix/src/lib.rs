//! Translates HTTP to use-cases and back. No other crate knows both.
//!
//! A handler reads the request, calls one use-case and writes the response. What happens to every request
//! before and after its handler is in `server::edge`. Only `error` turns a refusal into a status and a body.

mod admin;
mod browser;
mod desk;
mod endpoint;
mod error;
mod extract;
#[cfg(test)]
mod invariants;
mod limits;
#[cfg(test)]
mod mistakes;
mod openapi;
mod page;
mod server;
mod settings;
mod state;

pub use admin::{AdminSettings, RunningAdmin, admin_openapi_json, serve_admin};
pub use limits::connection::ConnectionLimits;
pub use limits::rate_limit::Strangers;
pub use openapi::openapi_json;
pub use page::language::page_languages;
pub use page::templates::{TemplateError, check_templates, embedded_templates};
pub use server::metrics_server::{metrics, serve_metrics};
pub use server::{Running, StartError, start};
pub use settings::{ApplicationSettings, Applications, DeskPlace, DeskSettings, HttpSettings, Registration};
