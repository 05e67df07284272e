//! The floor: a server that does for each step only what cannot be avoided, with the libraries that the real
//! one uses.
//!
//! It parses each request, opens and seals the session cookie, recovers the signer, takes part in one shared
//! durable write, signs, and returns an answer of the same size. It supports only the driver's requests: no
//! other grant, no other wallet family, no DPoP, no rate limits, no log.
//! `docs/reports/performance.md` lists what it does and leaves out.

mod answer;
mod clock;
mod postgres;
mod routes;
mod session;
mod sqlite;
mod store;
mod token;

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use actix_web::cookie::Key;
use actix_web::web::Data;
use actix_web::{App, HttpServer};
use uuid::Uuid;

pub use store::StoreError;
use store::{Reader, Store};
use token::Issuer;

/// The floor's settings.
#[derive(Clone, Debug)]
pub struct FloorSettings {
    /// `sqlite://` and a path, or `postgres://…`. The database must be empty or belong to a floor.
    pub database: String,
    /// The address and port to listen on.
    pub bind: SocketAddr,
    /// A folder with `page.html`, `discovery.json` and `keys.json`: answers of the real server, which the
    /// floor copies.
    pub bodies: Option<PathBuf>,
}

/// The floor cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The database cannot be used.
    #[error("database cannot be used")]
    Store(#[from] StoreError),
    /// The signing key cannot be made.
    #[error("signing key cannot be made")]
    Key(#[from] josekit::JoseError),
    /// The operating system provides no randomness.
    #[error("no randomness is available")]
    Random(#[from] getrandom::Error),
    /// The listener or a file cannot be used.
    #[error("listener or file cannot be used")]
    Io(#[from] io::Error),
}

/// The state that all workers share.
struct Floor {
    issuer: Issuer,
    store: Store,
    cookie_key: Key,
    /// The hash of each client's secret.
    clients: RwLock<HashMap<Uuid, [u8; 32]>>,
    bodies: Bodies,
}

/// The answers that never change.
struct Bodies {
    page: String,
    discovery: String,
    keys: String,
}

/// Serves until the process is stopped.
pub fn serve(settings: &FloorSettings) -> Result<(), FloorError> {
    let workers = std::thread::available_parallelism()?.get();
    let listener = TcpListener::bind(settings.bind)?;
    let store = Store::open(&settings.database, workers)?;
    let mut cookie_key = [0; 64];
    getrandom::fill(&mut cookie_key)?;
    let floor = Data::new(Floor {
        issuer: Issuer::new(format!("http://localhost:{}", settings.bind.port()))?,
        clients: RwLock::new(store.clients()?),
        store,
        cookie_key: Key::from(&cookie_key),
        bodies: Bodies::read(settings.bodies.as_deref())?,
    });
    let server = HttpServer::new(move || {
        // Each worker has its own, so that a read from SQLite needs no other thread.
        let reader: Data<Reader> = Data::new(floor.store.reader());
        App::new().app_data(floor.clone()).app_data(reader).configure(routes::configure)
    })
    .workers(workers)
    .tcp_nodelay(true)
    .listen(listener)?
    .run();
    actix_web::rt::System::new().block_on(server)?;
    Ok(())
}

impl Bodies {
    /// Without a folder, they are fillers of about the right size.
    fn read(folder: Option<&Path>) -> io::Result<Self> {
        let Some(folder) = folder else {
            let filler = |bytes| format!("{{\"filler\":\"{}\"}}", "x".repeat(bytes));
            return Ok(Self { page: filler(18_000), discovery: filler(2_500), keys: filler(800) });
        };
        let read = |name| std::fs::read_to_string(folder.join(name));
        Ok(Self { page: read("page.html")?, discovery: read("discovery.json")?, keys: read("keys.json")? })
    }
}
