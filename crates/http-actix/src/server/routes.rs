//! Maps paths to handlers. A known path with another method gets 405 and the methods that it has.

use actix_session::SessionMiddleware;
use actix_session::storage::CookieSessionStore;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource, Route, guard};

use super::doorway;
use crate::endpoint::account::{pictures, wallets};
use crate::endpoint::sign_in::{
    answer, auth_page, authorize, challenge, continue_session, deny, device, device_authorization, join,
    login, logout, push, verify,
};
use crate::endpoint::site::{assets, discovery, health, home, metrics, playground, received};
use crate::endpoint::tokens::{introspect, revoke, token, userinfo};
use crate::endpoint::{account, clients};
use crate::error::ApiError;
use crate::openapi;
use crate::settings::{DeskPlace, RouteNumber};
use crate::state::AppState;

/// A path with all its methods. All of them are in the OpenAPI document, and a test compares the two.
pub struct Endpoint {
    pub path: &'static str,
    /// The methods as the `Allow` header names them.
    pub allow: &'static str,
    routes: fn() -> Vec<Route>,
}

/// Endpoints without a session. Those with the most requests come first, because the router tries them in
/// this order.
pub(crate) const WITHOUT_SESSION: [Endpoint; 23] = [
    Endpoint {
        path: "/oauth/token",
        allow: "POST, OPTIONS",
        routes: || vec![web::post().to(token::answer), preflight()],
    },
    Endpoint {
        path: "/oauth/userinfo",
        allow: "GET, POST, OPTIONS",
        routes: || vec![web::get().to(userinfo::get), web::post().to(userinfo::post), preflight()],
    },
    Endpoint {
        path: "/oauth/introspect",
        allow: "POST",
        routes: || vec![web::post().to(introspect::introspect)],
    },
    Endpoint {
        path: "/oauth/revoke",
        allow: "POST, OPTIONS",
        routes: || vec![web::post().to(revoke::revoke), preflight()],
    },
    Endpoint {
        path: "/oauth/jwks",
        allow: "GET, HEAD, OPTIONS",
        routes: || vec![read().to(discovery::jwks), preflight()],
    },
    Endpoint { path: OPENID_CONFIGURATION, allow: "GET, HEAD, OPTIONS", routes: metadata },
    Endpoint { path: "/oauth/clients", allow: "POST", routes: || vec![web::post().to(clients::register)] },
    Endpoint { path: "/", allow: "GET, HEAD", routes: || vec![read().to(home::show)] },
    Endpoint {
        path: "/oauth/par",
        allow: "POST, OPTIONS",
        routes: || vec![web::post().to(push::push), preflight()],
    },
    Endpoint {
        path: "/oauth/device_authorization",
        allow: "POST, OPTIONS",
        routes: || vec![web::post().to(device_authorization::begin), preflight()],
    },
    Endpoint {
        path: "/verify",
        allow: "GET, HEAD, POST",
        routes: || vec![read().to(verify::show), web::post().to(verify::verify)],
    },
    Endpoint { path: AUTHORIZATION_SERVER, allow: "GET, HEAD, OPTIONS", routes: metadata },
    Endpoint { path: "/docs", allow: "GET, HEAD", routes: || vec![read().to(openapi::page::show)] },
    Endpoint { path: "/playground", allow: "GET, HEAD", routes: || vec![read().to(playground::show)] },
    Endpoint { path: "/playground/received", allow: "GET, HEAD", routes: || vec![read().to(received::show)] },
    Endpoint { path: "/openapi.json", allow: "GET, HEAD", routes: || vec![read().to(openapi::show)] },
    Endpoint { path: "/favicon.ico", allow: "GET, HEAD", routes: || vec![read().to(assets::favicon)] },
    Endpoint { path: "/health/live", allow: "GET, HEAD", routes: || vec![read().to(health::live)] },
    Endpoint { path: "/health/ready", allow: "GET, HEAD", routes: || vec![read().to(health::ready)] },
    Endpoint { path: "/metrics", allow: "GET, HEAD", routes: || vec![read().to(metrics::show)] },
    Endpoint {
        path: "/oauth/clients/{client_id}",
        allow: "GET, PUT, DELETE",
        routes: || {
            vec![
                web::get().to(clients::read),
                web::put().to(clients::update),
                web::delete().to(clients::delete),
            ]
        },
    },
    Endpoint {
        path: "/pictures/{name}.svg",
        allow: "GET, HEAD, OPTIONS",
        routes: || vec![read().to(pictures::show), preflight()],
    },
    Endpoint { path: "/assets/{name}", allow: "GET, HEAD", routes: || vec![read().to(assets::serve)] },
];

/// Endpoints that use the browser's session.
pub const WITH_SESSION: [Endpoint; 25] = [
    Endpoint {
        path: "/oauth/authorize",
        allow: "GET, POST",
        routes: || vec![web::get().to(authorize::get), web::post().to(authorize::post)],
    },
    Endpoint { path: "/auth", allow: "GET", routes: || vec![web::get().to(auth_page::show)] },
    Endpoint { path: "/oauth/challenge", allow: "POST", routes: || vec![web::post().to(challenge::issue)] },
    Endpoint { path: "/oauth/login", allow: "POST", routes: || vec![web::post().to(login::complete)] },
    Endpoint {
        path: "/oauth/continue",
        allow: "POST",
        routes: || vec![web::post().to(continue_session::go_on)],
    },
    Endpoint {
        path: "/oauth/logout",
        allow: "GET, POST",
        routes: || vec![web::get().to(logout::get), web::post().to(logout::post)],
    },
    Endpoint { path: "/oauth/answer", allow: "GET", routes: || vec![web::get().to(answer::show)] },
    Endpoint { path: "/oauth/deny", allow: "POST", routes: || vec![web::post().to(deny::deny)] },
    Endpoint {
        path: "/device",
        allow: "GET, POST",
        routes: || vec![web::get().to(device::show), web::post().to(device::enter)],
    },
    Endpoint { path: "/join/{secret}", allow: "GET", routes: || vec![web::get().to(join::open)] },
    Endpoint { path: "/device/done", allow: "GET", routes: || vec![web::get().to(device::done)] },
    Endpoint { path: "/account", allow: "GET", routes: || vec![web::get().to(account::show)] },
    Endpoint {
        path: "/account/data",
        allow: "POST",
        routes: || vec![web::post().to(account::data::download)],
    },
    Endpoint {
        path: "/account/sign-in",
        allow: "POST",
        routes: || vec![web::post().to(account::sign_in_again)],
    },
    Endpoint {
        path: "/account/apps/revoke",
        allow: "POST",
        routes: || vec![web::post().to(account::forms::revoke)],
    },
    Endpoint {
        path: "/account/sessions/end",
        allow: "POST",
        routes: || vec![web::post().to(account::forms::end)],
    },
    Endpoint { path: "/account/email", allow: "POST", routes: || vec![web::post().to(account::email::put)] },
    Endpoint {
        path: "/account/email/remove",
        allow: "POST",
        routes: || vec![web::post().to(account::email::remove)],
    },
    Endpoint {
        path: "/account/email/confirm",
        allow: "GET, POST",
        routes: || vec![web::get().to(account::email::ask), web::post().to(account::email::confirm)],
    },
    Endpoint {
        path: "/account/delete",
        allow: "POST",
        routes: || vec![web::post().to(account::forms::delete)],
    },
    Endpoint {
        path: "/account/wallets/challenge",
        allow: "POST",
        routes: || vec![web::post().to(wallets::begin)],
    },
    Endpoint { path: "/account/wallets/link", allow: "POST", routes: || vec![web::post().to(wallets::link)] },
    Endpoint {
        path: "/account/wallets/unlink",
        allow: "POST",
        routes: || vec![web::post().to(wallets::unlink)],
    },
    Endpoint {
        path: "/account/wallets/rename",
        allow: "POST",
        routes: || vec![web::post().to(account::naming::rename)],
    },
    Endpoint { path: "/account/events", allow: "GET", routes: || vec![web::get().to(account::events::show)] },
];

impl RouteNumber {
    /// For what operators do at the desk. For a person who is not an operator, the path does not exist.
    pub const DESK: Self = Self(WITHOUT_SESSION.len() + WITH_SESSION.len());

    /// For every path that is not ours.
    pub(crate) const OTHER: Self = Self(Self::DESK.0 + 1);
}

/// The paths of all endpoints, that of the desk, and `other` for all other paths.
pub(crate) fn names() -> Vec<&'static str> {
    let endpoints = WITHOUT_SESSION.into_iter().chain(WITH_SESSION);
    endpoints.map(|endpoint| endpoint.path).chain([doorway::PATH, "other"]).collect()
}

const OPENID_CONFIGURATION: &str = "/.well-known/openid-configuration";
const AUTHORIZATION_SERVER: &str = "/.well-known/oauth-authorization-server";

pub fn configure(
    config: &mut ServiceConfig,
    state: &Data<AppState>,
    session: SessionMiddleware<CookieSessionStore>,
) {
    let base = state.context.policy.public_url.path();
    for (place, endpoint) in WITHOUT_SESSION.into_iter().enumerate() {
        let number = RouteNumber(place);
        match endpoint.path.find('{').and_then(|place| endpoint.path[..place].rfind('/')) {
            // To skip a scope, the router only compares a prefix. To skip a pattern, it must try to match it.
            Some(end) => {
                let (scope, below) = endpoint.path.split_at(end);
                config.service(
                    web::scope(&format!("{base}{scope}")).service(resource(below, &endpoint, number)),
                );
            }
            None => {
                config.service(resource(&format!("{base}{}", endpoint.path), &endpoint, number));
            }
        }
    }
    for (place, endpoint) in WITHOUT_SESSION.into_iter().enumerate() {
        if [OPENID_CONFIGURATION, AUTHORIZATION_SERVER].contains(&endpoint.path) {
            for path in other_places(endpoint.path, base) {
                config.service(resource(&path, &endpoint, RouteNumber(place)));
            }
        }
    }
    let nowhere = doorway::Nowhere(|| ApiError::not_found().into());
    let not_found =
        || web::to(move |request: HttpRequest| async move { doorway::nowhere(&request, nowhere).await });
    let with_session = web::scope(base).default_service(not_found());
    let endpoints = WITH_SESSION.into_iter().enumerate();
    let with_session = endpoints.fold(with_session, |scope, (place, endpoint)| {
        let number = RouteNumber(WITHOUT_SESSION.len() + place);
        scope.service(resource(endpoint.path, &endpoint, number))
    });
    let with_session = match &state.desk {
        Some(desk) if desk.place == DeskPlace::Public => {
            let desk = (desk.scope)(doorway::PATH, RouteNumber::DESK).app_data(nowhere);
            with_session.service(desk.wrap(from_fn(doorway::admit)))
        }
        Some(_) | None => with_session,
    };
    config.service(with_session.wrap(session));
    // Paths that are not below our own.
    config.default_service(not_found());
}

/// Where else clients look for a metadata document. RFC 8414 puts the well-known part before the issuer's path,
/// OpenID Connect after it, and clients try both. The other two are what a client asks for if the issuer was
/// configured with a slash at its end.
fn other_places(well_known: &str, base: &str) -> Vec<String> {
    let mut places = vec![format!("{base}/{well_known}"), format!("{well_known}{base}/")];
    if !base.is_empty() {
        places.push(format!("{well_known}{base}"));
    }
    places
}

fn resource(path: &str, endpoint: &Endpoint, number: RouteNumber) -> Resource {
    let allow = endpoint.allow;
    let routes = (endpoint.routes)();
    let resource = routes.into_iter().fold(web::resource(path).app_data(number), Resource::route);
    resource.default_service(web::to(move || async move {
        Err::<HttpResponse, _>(ApiError::method_not_allowed(allow))
    }))
}

fn metadata() -> Vec<Route> {
    vec![read().to(discovery::metadata_document), preflight()]
}

pub fn read() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// Answers the preflight requests of other sites' pages. The CORS headers are added in
/// [`crate::server::headers`].
fn preflight() -> Route {
    web::method(Method::OPTIONS).to(|| async { HttpResponse::NoContent().finish() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TABLE: &str = include_str!("../../../../docs/what-carries-a-change.md");

    /// Endpoints that change something even with GET.
    const CHANGED_BY_READING: [&str; 10] = [
        "/oauth/authorize",
        "/auth",
        "/oauth/logout",
        "/oauth/answer",
        "/device",
        "/join/{secret}",
        "/account",
        "/account/email/confirm",
        "/account/events",
        "/oauth/userinfo",
    ];

    /// `METHOD path` of each row of the table.
    fn rows() -> Vec<String> {
        let rows = TABLE.lines().filter_map(|line| line.strip_prefix("| `"));
        let endpoints = rows.filter_map(|row| row.split_once('`')).map(|(endpoint, _)| endpoint.to_owned());
        // Those of the desk are tested beside it.
        endpoints.filter(|endpoint| !endpoint.contains(" /admin")).collect()
    }

    /// F-02: nobody can add an endpoint without saying what carries its changes.
    #[test]
    fn f_02_every_endpoint_that_changes_something_has_a_row_that_says_what_carries_it() {
        let endpoints = WITHOUT_SESSION.into_iter().chain(WITH_SESSION);
        let endpoints = endpoints.map(|Endpoint { path, allow, .. }| (path.to_owned(), allow));
        let wanted: BTreeSet<String> = endpoints
            .flat_map(|(path, allow)| {
                let changed_by_reading = CHANGED_BY_READING.contains(&path.as_str());
                allow.split(", ").filter_map(move |method| {
                    let changes = match method {
                        "OPTIONS" | "HEAD" => false,
                        "GET" => changed_by_reading,
                        _ => true,
                    };
                    changes.then(|| format!("{method} {path}"))
                })
            })
            .collect();
        let rows = rows();
        let found: BTreeSet<String> = rows.iter().cloned().collect();
        assert_eq!(rows.len(), found.len(), "there are two rows for one endpoint");
        assert_eq!(found, wanted);
        for line in TABLE.lines().filter(|line| line.starts_with("| `")) {
            let cells = line.trim_matches('|').split('|').filter(|cell| !cell.trim().is_empty()).count();
            assert_eq!(cells, 4, "{line}");
        }
    }
}
