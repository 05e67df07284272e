//! Starting and stopping the HTTP server.

pub mod doorway;
pub mod edge;
mod headers;
pub(crate) mod metrics_server;
pub mod routes;

use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_session::SessionMiddleware;
use actix_session::config::PersistentSession;
use actix_session::storage::CookieSessionStore;
use actix_web::cookie::{Key, SameSite};
use actix_web::dev::{AppConfig, Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use actix_web::{App, cookie};
use countersign_usecases::Context;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::browser::session;
use crate::limits::connection::{Admission, Connection, Ending, GuardedStream, PIECE};
use crate::limits::rate_limit::Strangers;
use crate::page::templates::TemplateError;
use crate::settings::HttpSettings;
use crate::state::AppState;

/// A client must send the head of a request within this time (B-079).
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Stopping closes connections whose request has not been read yet. Between the last connection that is accepted and
/// that moment, this long is left for a request to arrive.
const SETTLE: Duration = Duration::from_millis(250);

/// The server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A template does not compile.
    #[error("templates cannot be used")]
    Templates(#[from] TemplateError),
    /// The listener cannot be used.
    #[error("listener cannot be used")]
    Listener(#[source] io::Error),
}

/// A running server.
pub struct Running {
    server: Server,
    handle: ServerHandle,
    state: Data<AppState>,
    seal: SessionSeal,
    address: SocketAddr,
}

/// What it takes to open and seal the session cookie.
#[derive(Clone)]
pub struct SessionSeal {
    key: Key,
    https: bool,
    ttl: cookie::time::Duration,
}

impl SessionSeal {
    pub fn middleware(&self) -> SessionMiddleware<CookieSessionStore> {
        sealed_session(self.key.clone(), self.https, self.ttl)
    }
}

/// The middleware that opens and seals the session cookie.
pub fn sealed_session(
    key: Key,
    https: bool,
    ttl: cookie::time::Duration,
) -> SessionMiddleware<CookieSessionStore> {
    SessionMiddleware::builder(CookieSessionStore::default(), key)
        .cookie_name(session::cookie_name(https).to_owned())
        .cookie_secure(https)
        .cookie_http_only(true)
        .cookie_same_site(SameSite::Lax)
        .cookie_path("/".to_owned())
        .session_lifecycle(PersistentSession::default().session_ttl(ttl))
        .build()
}

/// Serves all endpoints on a bound listener. The caller handles signals.
pub fn start(context: Context, settings: HttpSettings, listener: TcpListener) -> Result<Running, StartError> {
    let address = listener.local_addr().map_err(StartError::Listener)?;
    let seal = SessionSeal {
        key: Key::from(&settings.session_key),
        https: context.policy.public_url.is_https(),
        ttl: cookie::time::Duration::seconds(context.policy.lifetimes.session.whole_seconds()),
    };
    let workers = settings.workers.max(1);
    let connections = settings.connections;
    let excepted = settings.trusted_proxies.clone();
    let on_this_machine = context.policy.public_url.is_loopback();
    let state = Data::new(AppState::new(context, settings)?);
    let (shared, sealing) = (state.clone(), seal.clone());
    let admission = Admission::new(connections, excepted, on_this_machine);
    let builder = Server::build()
        .workers(workers)
        // Further connections wait until one ends, so that the process does not run out of file descriptors.
        .max_concurrent_connections((connections.total / workers).max(1))
        .disable_signals()
        .shutdown_timeout(30);
    let stopping = builder.graceful_shutdown_signal();
    let serve = move || {
        let session = sealing.middleware();
        let app = App::new()
            .app_data(shared.clone())
            .wrap(from_fn(edge::guard))
            .configure(|config| routes::configure(config, &shared, session));
        let app = app.into_factory().map_err(|error: actix_web::Error| error.error_response());
        let stopping = stopping.clone();
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .client_request_timeout(HEAD_TIMEOUT)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .keep_alive(KEEP_ALIVE)
            .h1_write_buffer_size(PIECE)
            .local_addr(address)
            .on_connect_ext(|stream: &GuardedStream, data| {
                data.insert(Rc::clone(stream.connection()));
            })
            .h1(map_config(app, |()| AppConfig::default()));
        let (admission, ending) = (Arc::clone(&admission), Ending::start(Arc::clone(&admission)));
        fn_service(move |stream: TcpStream| ready(open(stream, &admission, &ending))).and_then(http)
    };
    let server = builder.listen("countersign", listener, serve).map_err(StartError::Listener)?.run();
    let handle = server.handle();
    Ok(Running { server, handle, state, seal, address })
}

/// Admits a connection, or closes it.
fn open(
    stream: TcpStream,
    admission: &Arc<Admission>,
    ending: &Ending,
) -> Result<(GuardedStream, Option<SocketAddr>), DispatchError> {
    let peer = stream.peer_addr().map_err(DispatchError::Io)?;
    let refused = || DispatchError::Io(io::ErrorKind::ConnectionRefused.into());
    let admitted = admission.admit(peer.ip()).ok_or_else(refused)?;
    // Otherwise a response in two writes waits 44 ms for a delayed acknowledgement.
    stream.set_nodelay(true).map_err(DispatchError::Io)?;
    let connection = ending.add(Connection::new(admitted, ending.clock()));
    Ok((GuardedStream::new(stream, connection), Some(peer)))
}

impl Running {
    /// Where the server listens.
    pub const fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// What the handlers of this server share.
    pub fn state(&self) -> Data<AppState> {
        self.state.clone()
    }

    /// What it takes to open and seal the session cookie.
    pub fn seal(&self) -> SessionSeal {
        self.seal.clone()
    }

    /// Knows which peers forward for others without being trusted to, as long as the server runs.
    pub fn strangers(&self) -> Strangers {
        self.state.rate_limits.strangers()
    }

    /// From now on, the readiness probe fails, and responses ask clients to close their connections.
    pub fn begin_drain(&self) {
        self.state.begin_drain();
    }

    /// Accepts no new connections, and returns when the requests in flight have finished, or after `grace` at
    /// the latest.
    pub async fn stop(self, grace: Duration) {
        let in_order = async {
            self.handle.pause().await;
            sleep(SETTLE).await;
            self.handle.stop(true).await;
        };
        let stopped = async { tokio::join!(in_order, self.server) };
        // Requests that are still running end with the process. No one is left to report the timeout to.
        let _ = tokio::time::timeout(grace, stopped).await;
    }

    /// Waits until the server ends by itself.
    pub async fn wait(&mut self) -> io::Result<()> {
        (&mut self.server).await
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}
