//! Translates HTTP to use-cases and back.
//!
//! A handler reads the request, calls one use-case and writes the response. What happens to every request
//! before and after its handler is in `server::edge`. Only `error` turns a refusal into a status and a body.
//!
//! The modules are open to `countersign-http-operators`, which has the admin interface and the desk. They are no
//! interface for anything else.

#[doc(hidden)]
pub mod browser;
#[doc(hidden)]
pub mod endpoint;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod extract;
#[doc(hidden)]
pub mod limits;
#[cfg(test)]
mod mistakes;
#[doc(hidden)]
pub mod openapi;
#[doc(hidden)]
pub mod page;
#[doc(hidden)]
pub mod server;
#[doc(hidden)]
pub mod settings;
#[cfg(test)]
#[expect(dead_code, reason = "the random requests of http-operators use more of it")]
mod site;
#[doc(hidden)]
pub mod state;

pub use limits::connection::ConnectionLimits;
pub use limits::rate_limit::Strangers;
pub use openapi::openapi_json;
pub use page::language::page_languages;
pub use page::templates::{TemplateError, check_templates, embedded_templates};
pub use server::metrics_server::{metrics, serve_metrics};
pub use server::{Running, StartError, start};
pub use settings::{DeskPlace, DeskRoutes, HttpSettings, Registration, RouteNumber};

/// What is open and holds keys, or what a request brings, is not printed.
macro_rules! not_printed {
    ($($type:ty),* $(,)?) => { $(
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    )* };
}

not_printed! {
    browser::forms::Forms<'_>,
    extract::body::Body,
    openapi::page::contents::Contents<'_>,
    page::Pages,
    page::in_each_language::InEachLanguage,
    page::templates::Templates,
    server::SessionSeal,
    server::doorway::Admitted,
    server::routes::Endpoint,
    state::AppState,
}

/// Where the tests of the operators' pages find the same things.
#[cfg(test)]
mod http {
    pub(crate) use crate::*;
}
