//! The admin interface and the desk: what operators do over HTTP.
//!
//! Both are made with what `countersign-http-actix` has for every request: pages, forms, limits, errors. That crate does
//! not know this one. It is given the desk's routes, and serves them at a doorway of its own.

mod admin;
mod desk;
#[cfg(test)]
mod invariants;
mod settings;
// The same server as in the tests of the endpoints.
#[cfg(test)]
#[path = "../../http-actix/src/site.rs"]
mod site;

pub use admin::{AdminSettings, RunningAdmin, admin_openapi_json, serve_admin};
pub use desk::desk_routes;
pub use settings::{ApplicationSettings, Applications, DeskSettings};

/// Where the shared file finds the server.
#[cfg(test)]
mod http {
    pub(crate) use countersign_http_actix::*;
}
