//! The desk: `/admin`, where operators read everything and sign what they change (docs/desk.md).
//!
//! It is a room of its own beside `endpoint` and `admin`, and not an endpoint: nothing of it is in the public
//! OpenAPI document, it can be served on either listener, and one rule stands before all of it. Whoever is no
//! operator gets the answer of a path that does not exist, on every path and for every method ([`admit`]). The
//! pages read through the use-cases that the command line and the admin interface call; changes are only ever
//! made by `usecases::desk`, with a signature.

mod access;
mod admin_keys;
mod admit;
mod changes;
mod chart;
mod clients;
mod events;
mod field;
mod forms;
mod groups;
mod keys;
mod mail;
mod overview;
mod people;
mod proposals;
mod query;
mod resources;
mod search;
mod sent;
mod show;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod wallets;

use actix_web::web;
use actix_web::{HttpResponse, Resource, Route, Scope, guard};

pub(crate) use admit::{Nowhere, admit};

use crate::error::ApiError;

/// A path below `/admin` with its methods.
pub(crate) struct Place {
    pub(crate) path: &'static str,
    /// The methods as the `Allow` header names them.
    pub(crate) allow: &'static str,
    route: fn() -> Route,
}

const fn reads(path: &'static str, route: fn() -> Route) -> Place {
    Place { path, allow: "GET, HEAD", route }
}

const fn changes(path: &'static str, route: fn() -> Route) -> Place {
    Place { path, allow: "POST", route }
}

/// Where the desk is, below the path of the public URL.
pub(crate) const PATH: &str = "/admin";

/// All places, in the order in which the router tries them.
pub(crate) const PLACES: [Place; 23] = [
    reads("", || read().to(overview::show)),
    reads("/people", || read().to(people::list)),
    reads("/people/{id}", || read().to(people::show)),
    reads("/wallets", || read().to(wallets::list)),
    reads("/wallets/{account}", || read().to(wallets::show)),
    reads("/groups", || read().to(groups::list)),
    reads("/groups/{name}", || read().to(groups::show)),
    reads("/clients", || read().to(clients::list)),
    reads("/clients/{id}", || read().to(clients::show)),
    reads("/access", || read().to(access::list)),
    reads("/resources", || read().to(resources::list)),
    reads("/events", || read().to(events::list)),
    reads("/events/{id}", || read().to(events::show)),
    reads("/keys", || read().to(keys::list)),
    reads("/admin-keys", || read().to(admin_keys::list)),
    reads("/search", || read().to(search::find)),
    changes("/changes", || web::post().to(changes::begin)),
    changes("/changes/sign", || web::post().to(changes::sign)),
    changes("/proposals/begin", || web::post().to(proposals::begin)),
    changes("/proposals/sign", || web::post().to(changes::sign)),
    reads("/proposals", || read().to(proposals::list)),
    reads("/proposals/{id}", || read().to(proposals::show)),
    // With a slash at its end, which people type.
    reads("/", || read().to(overview::show)),
];

/// The desk below this path. A listener wraps it with [`admit`], so that others than operators get the answer
/// `nowhere`, as if nothing was there. Requests that reach a page carry `mark`, by which the listener counts them.
pub(crate) fn scope(path: &str, nowhere: Nowhere, mark: impl Copy + 'static) -> Scope {
    let desk = web::scope(path).app_data(nowhere).default_service(web::to(nothing_here));
    PLACES.into_iter().fold(desk, |desk, place| desk.service(resource(&place, mark)))
}

fn resource(place: &Place, mark: impl Copy + 'static) -> Resource {
    let allow = place.allow;
    let other = web::to(move || async move { Err::<HttpResponse, _>(ApiError::method_not_allowed(allow)) });
    web::resource(place.path).app_data(mark).route((place.route)()).default_service(other)
}

async fn nothing_here() -> Result<HttpResponse, ApiError> {
    Err(ApiError::not_found())
}

fn read() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}
