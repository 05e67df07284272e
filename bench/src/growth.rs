//! Measures whether the cost of a step grows with the database: three databases of one kind, whose sizes
//! differ up to a thousandfold, measured in turn.
//!
//! All of them fit into the machine's memory and are in memory when they are measured. The files are read
//! through before each cell, because a machine may evict what was not touched for a minute, and then the cell
//! warms up for seconds. So this measures the work in a larger database, not the disk.

mod fill;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cell::{Record, Target};
use crate::flow;
use crate::http::Connection;
use crate::load::{self, Task, people};
use crate::progress::Progress;
use crate::run::{Plan, Ready, Results, RunError, begin, cell, name_of_cell, task};
use crate::servers::Place;
use crate::step::{self, Step};
use fill::Sample;

/// How many live tokens there are beforehand.
const SIZES: [u64; 3] = [10_000, 1_000_000, 10_000_000];
/// The steps that read or write the growing tables.
const STEPS: [Step; 3] = [Step::Exchange, Step::Refresh, Step::Userinfo];
pub(crate) const CONNECTIONS: usize = 64;
const WARM_UP: Duration = Duration::from_secs(2);
/// For how many of the tokens the driver knows the secret; they are spread over all.
const KNOWN: u64 = 9_984;

/// A filled database, with a server on it.
pub(crate) struct Grown {
    pub(crate) tokens: u64,
    pub(crate) ready: Ready,
    pub(crate) sample: Sample,
    // Dropped after the server that uses it.
    pub(crate) place: Place,
}

/// Fills the databases and measures.
pub(crate) async fn run(plan: &Plan, sizes: &[u64], results: &mut Results) -> Result<(), RunError> {
    let people = people();
    let mut progress = Progress::new(plan.databases.len() * sizes.len() * (STEPS.len() * plan.rounds + 1));
    for &database in &plan.databases {
        let mut grown = Vec::new();
        for &tokens in sizes {
            progress.begin(&format!("{}: filling in {tokens} tokens", database.title()));
            grown.push(grow(Place::make(database)?, &plan.server, tokens).await?);
            progress.end();
        }
        for step in STEPS {
            for round in 0..plan.rounds {
                for Grown { tokens, ready, sample, place } in &grown {
                    let of = name_of_cell(database, step, CONNECTIONS, ready.target);
                    progress.begin(&format!("{of} among {tokens} tokens"));
                    read_through(place.data_folder()).await?;
                    let prepared = prepared(step, sample, round, plan.rounds);
                    let task = task(plan, ready, place.database_process(), step, CONNECTIONS);
                    let task = Task { warm_up: WARM_UP, ..task };
                    let outcome = load::run(task, &people, prepared).await;
                    let mut cell = cell(database, ready.target, step, CONNECTIONS, outcome);
                    cell.tokens = Some(*tokens);
                    results.put(Record::Cell(cell))?;
                    progress.end();
                }
                grown.reverse();
            }
        }
    }
    progress.finish();
    Ok(())
}

/// The server creates its tables, stops while they are filled, and starts again.
pub(crate) async fn grow(place: Place, program: &Path, tokens: u64) -> Result<Grown, RunError> {
    let mut ready = begin(&place, Target::Server, program).await?;
    let mut connection = Connection::open(ready.server.address).await?;
    let example = flow::sign_in(&mut connection, &ready.client, &people()[0]).await?;
    let address = ready.server.address;
    drop(connection);
    ready.server.stop();
    let (url, client) = (ready.launch.database_url().to_owned(), ready.client.clone());
    // This takes minutes, and the user may interrupt it.
    let filling = tokio::task::spawn_blocking(move || fill::fill(&url, &client, &example, tokens, KNOWN));
    let sample = filling.await.map_err(|error| RunError::Fill(error.to_string()))??;
    ready.server = ready.launch.start_at(address).await?;
    Ok(Grown { tokens, ready, sample, place })
}

/// Reads the files in a folder into memory.
pub(crate) async fn read_through(folder: PathBuf) -> Result<(), RunError> {
    let reading = tokio::task::spawn_blocking(move || read_folder(&folder));
    reading.await.map_err(|error| RunError::Fill(error.to_string()))?
}

fn read_folder(folder: &Path) -> Result<(), RunError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| RunError::File { path, source }
    };
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.is_dir() {
            read_folder(&path)?;
        } else {
            match File::open(&path).and_then(|mut file| io::copy(&mut file, &mut io::sink())) {
                // Other processes write here, and remove what they no longer need.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path)(error)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Each round and each connection has chains of its own. Codes are always made fresh, because they expire
/// after a minute.
pub(crate) fn prepared(step: Step, sample: &Sample, round: usize, rounds: usize) -> Vec<step::Ready> {
    let part = |tokens: &[String], connection: usize| -> Vec<String> {
        let of_this = |place: &usize| place % (rounds * CONNECTIONS) == round * CONNECTIONS + connection;
        tokens
            .iter()
            .enumerate()
            .filter(|(place, _)| of_this(place))
            .map(|(_, token)| token.clone())
            .collect()
    };
    let connections = 0..CONNECTIONS;
    match step {
        Step::Refresh => {
            connections.map(|number| step::Ready::Chains(part(&sample.refresh, number), 0)).collect()
        }
        Step::Userinfo => {
            connections.map(|number| step::Ready::Many(part(&sample.access, number), 0)).collect()
        }
        Step::Authorize
        | Step::Page
        | Step::Challenge
        | Step::Login
        | Step::Exchange
        | Step::Introspect
        | Step::Revoke
        | Step::Register
        | Step::Discovery
        | Step::Keys
        | Step::Flow => Vec::new(),
    }
}

/// The sizes to measure.
pub(crate) fn sizes(largest: Option<u64>) -> Vec<u64> {
    SIZES.into_iter().filter(|size| largest.is_none_or(|largest| *size <= largest)).collect()
}
