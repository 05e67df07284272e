//! The desk: `/admin`, where operators read everything and sign what they change (docs/desk.md).
//!
//! It is a room of its own beside `endpoint` and `admin`, and not an endpoint: nothing of it is in the public
//! OpenAPI document, it can be served on either listener, and one rule comes before all of it. A person who
//! is not an operator gets the answer of a path that does not exist, on every path and for every method
//! (the doorway of `http-actix`). The pages read through the functions that the command line and the admin
//! interface call; changes are only ever made by `operators::desk`, with a signature.

mod admin_keys;
mod admit;
mod asking;
mod changes;
mod chart;
mod clients;
mod events;
mod field;
mod forms;
mod groups;
mod happened;
mod hidden;
mod invitations;
mod keys;
mod lists;
mod mail;
mod names;
mod overview;
mod people;
mod proposals;
mod query;
mod refusals;
mod resources;
mod scope_lines;
mod search;
mod sent;
mod show;
#[cfg(test)]
pub(crate) mod tests;
mod tried;
mod view;
mod wallets;

use std::sync::Arc;

use actix_web::web::{self, Data};
use actix_web::{HttpResponse, Resource, Route, Scope, guard};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::settings::DeskPlace;
use countersign_http_actix::settings::DeskRoutes;
use countersign_http_actix::settings::RouteNumber;

use crate::settings::DeskSettings;

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

/// All places, in the order in which the router tries them.
pub(crate) const PLACES: [Place; 26] = [
    reads("", || read().to(overview::show)),
    reads("/people", || read().to(people::list)),
    reads("/people/{id}", || read().to(people::show)),
    reads("/wallets", || read().to(wallets::list)),
    reads("/wallets/{account}", || read().to(wallets::show)),
    reads("/groups", || read().to(groups::list)),
    reads("/groups/{name}", || read().to(groups::show)),
    reads("/invitations", || read().to(invitations::list)),
    reads("/invitations/{id}", || read().to(invitations::show)),
    reads("/clients", || read().to(clients::list)),
    reads("/clients/{id}", || read().to(clients::show)),
    reads("/resources", || read().to(resources::list)),
    reads("/events", || read().to(events::list)),
    reads("/events/{id}", || read().to(events::show)),
    reads("/refusals", || read().to(refusals::list)),
    reads("/refusals/{reference}", || read().to(refusals::show)),
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

/// The desk, for the listener at this place. Only operators get here: a listener asks at its doorway.
pub fn desk_routes(settings: DeskSettings, place: DeskPlace) -> DeskRoutes {
    let settings = Data::new(settings);
    DeskRoutes { place, scope: Arc::new(move |path, mark| scope(path, settings.clone(), mark)) }
}

/// The desk below this path. Requests that reach a page carry `mark`, by which the listener counts them.
fn scope(path: &str, settings: Data<DeskSettings>, mark: RouteNumber) -> Scope {
    let desk = web::scope(path).app_data(settings).default_service(web::to(nothing_here));
    PLACES.into_iter().fold(desk, |desk, place| desk.service(resource(&place, mark)))
}

fn resource(place: &Place, mark: RouteNumber) -> Resource {
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
