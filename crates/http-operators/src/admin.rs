//! The admin interface: what the command line can do, for programs, as JSON below `/admin/api/v1` on a listener of its
//! own (docs/admin-api.md).
//!
//! Each subject has its operations in its file: routes, scopes and the OpenAPI document are made of them
//! ([`all`]). A request reaches a handler after [`admit`] found its key good and its scope enough. Handlers
//! call the use-cases that the command line calls. There are no cookies here and nothing for pages of other sites.

mod admit;
mod all;
mod clients;
mod description;
mod edge;
mod events;
mod groups;
mod invitations;
mod keys;
mod make;
mod operations;
mod operators;
mod page;
mod problem;
mod read;
mod resources;
mod schemas;
#[cfg(test)]
mod tests;
mod users;
mod who;

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PathConfig, ServiceConfig};
use actix_web::{App, HttpRequest, HttpServer, Resource};
use countersign_domain::repeat_key::RepeatKey;
use countersign_http_actix::page::in_each_language::InEachLanguage;
use countersign_http_actix::page::templates::Asset;
use countersign_http_actix::server::doorway::{self, Nowhere};
use countersign_http_actix::server::{self, Running, SessionSeal};
use countersign_http_actix::settings::{DeskPlace, DeskRoutes, RouteNumber};
use countersign_http_actix::state::AppState;
use countersign_ports::KeyRing;
use countersign_usecases::Management;

use self::admit::Caller;
pub use self::description::admin_openapi_json;
use self::operations::{BASE, Operation};
use self::problem::Problem;

/// What all paths of the API begin with, whatever their version.
const API: &str = "/admin/api";
/// A client must send the head of a request within this time, as on the public listener.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How many connections there may be. The public listener has its own.
const CONNECTIONS: usize = 256;

/// What the admin interface needs besides what the server has.
#[derive(Clone)]
pub struct AdminSettings {
    /// The signing keys.
    pub keys: Arc<dyn KeyRing>,
    /// From which ids and secrets are made that a repeated request gets again.
    pub repeat_key: RepeatKey,
}

impl fmt::Debug for AdminSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminSettings").finish_non_exhaustive()
    }
}

/// What the handlers share.
pub(crate) struct AdminState {
    app: Data<AppState>,
    settings: AdminSettings,
    /// The OpenAPI document, made at the first request.
    openapi: OnceLock<Asset>,
    /// The same for people.
    docs: InEachLanguage,
}

impl AdminState {
    pub(crate) fn new(app: Data<AppState>, settings: AdminSettings) -> Self {
        Self { app, settings, openapi: OnceLock::new(), docs: InEachLanguage::default() }
    }

    /// What the use-cases need, for what this key does.
    fn management_for<'a>(&'a self, caller: &'a Caller) -> Management<'a> {
        self.app.context.management_for(&caller.cause)
    }

    /// What the use-cases need to read.
    fn management(&self) -> Management<'_> {
        self.app.context.management()
    }
}

/// A running admin interface.
#[derive(Debug)]
pub struct RunningAdmin(ServerHandle);

impl RunningAdmin {
    /// Accepts no new connections, and returns when the requests in flight have finished, or after `grace` at the
    /// latest.
    pub async fn stop(self, grace: Duration) {
        // Requests that are still running end with the process. No one is left to report the timeout to.
        let _ = tokio::time::timeout(grace, self.0.stop(true)).await;
    }
}

/// Serves the admin interface of a running server, and nothing else, on a bound listener.
pub fn serve_admin(
    running: &Running,
    settings: AdminSettings,
    listener: TcpListener,
) -> io::Result<(RunningAdmin, Server)> {
    let state = Data::new(AdminState::new(running.state(), settings));
    let seal = running.seal();
    let server = HttpServer::new(move || {
        App::new().wrap(from_fn(edge::guard)).configure(|config| configure(config, &state, &seal))
    });
    let server = server
        .workers(1)
        .max_connections(CONNECTIONS)
        .client_request_timeout(HEAD_TIMEOUT)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .keep_alive(KEEP_ALIVE)
        .disable_signals();
    let server = server.listen(listener)?.run();
    Ok((RunningAdmin(server.handle()), server))
}

/// The routes of the operations, and the few pages.
pub(crate) fn configure(config: &mut ServiceConfig, state: &Data<AdminState>, seal: &SessionSeal) {
    config.app_data(state.clone());
    // What cannot be read as a name is not there.
    config.app_data(PathConfig::default().error_handler(|_, _| Problem::nothing_here().into()));
    let mut paths: Vec<&'static str> = all::operations().map(|operation| operation.path).collect();
    paths.dedup();
    for path in paths {
        let at_path: Vec<&'static Operation> =
            all::operations().filter(|operation| operation.path == path).collect();
        config.service(resource(path, &at_path));
    }
    let base = state.app.context.policy.public_url.path();
    for (path, route) in page::routes(base) {
        let read_only = web::to(|| async { Err::<String, _>(Problem::method_not_allowed("GET, HEAD")) });
        config.service(web::resource(path).route(route).default_service(read_only));
    }
    if let Some(desk) = state.app.desk.as_ref().filter(|desk| desk.place == DeskPlace::Private) {
        serve_desk(config, state, desk, seal);
    }
    config.default_service(web::to(|request: HttpRequest| async move {
        doorway::nowhere(&request, NOWHERE).await
    }));
}

/// What this listener answers at a path that does not exist.
const NOWHERE: Nowhere = Nowhere(|| Problem::nothing_here().into());

/// The desk, beside the API. A person who is not an operator gets the answer of this listener for a path that
/// does not exist.
fn serve_desk(config: &mut ServiceConfig, state: &Data<AdminState>, desk: &DeskRoutes, seal: &SessionSeal) {
    config.app_data(state.app.clone());
    let nothing = web::to(|| async { Err::<String, _>(Problem::nothing_here()) });
    config.service(web::scope(API).default_service(nothing));
    let path = format!("{}{}", state.app.context.policy.public_url.path(), doorway::PATH);
    let desk = (desk.scope)(&path, RouteNumber::DESK).app_data(NOWHERE);
    let desk = desk.wrap(seal.middleware()).wrap(from_fn(server::edge::guard)).wrap(from_fn(doorway::admit));
    config.service(desk);
}

/// A path with its operations. Without a key no one reaches it, whatever the handler does.
fn resource(
    path: &str,
    operations: &[&'static Operation],
) -> Resource<
    impl actix_web::dev::ServiceFactory<
        actix_web::dev::ServiceRequest,
        Config = (),
        Response = actix_web::dev::ServiceResponse<actix_web::body::BoxBody>,
        Error = actix_web::Error,
        InitError = (),
    > + use<>,
> {
    let allow = operations.iter().map(|operation| operation.method).collect::<Vec<_>>().join(", ");
    let needed = operations.iter().map(|operation| (operation.method, operation.needs)).collect();
    let routes = operations.iter().map(|operation| (operation.route)());
    let resource = routes.fold(web::resource(format!("{BASE}{path}")), Resource::route);
    let other = web::to(move || {
        let refused = Problem::method_not_allowed(&allow);
        async move { Err::<String, _>(refused) }
    });
    resource.app_data(admit::Needed(needed)).default_service(other).wrap(from_fn(admit::admit))
}
