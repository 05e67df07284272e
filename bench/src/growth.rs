//! Does the cost of a step grow with the database? Three databases of one kind, a thousandfold apart, measured in turn.

mod fill;

use std::path::Path;

use crate::cell::{Record, Target};
use crate::flow;
use crate::http::Connection;
use crate::load::{self, people};
use crate::progress::Progress;
use crate::run::{Plan, Ready, Results, RunError, begin, cell, name_of_cell, task};
use crate::servers::Place;
use crate::step::{self, Step};
use fill::Sample;

/// How many live tokens there are beforehand.
const SIZES: [u64; 3] = [10_000, 1_000_000, 10_000_000];
/// The steps that read or write what grows.
const STEPS: [Step; 3] = [Step::Exchange, Step::Refresh, Step::Userinfo];
const CONNECTIONS: usize = 64;
/// For how many of the tokens the driver knows the secret; they are spread over all.
const KNOWN: u64 = 9_984;

/// A database that was filled, with a server on it.
struct Grown {
    tokens: u64,
    ready: Ready,
    sample: Sample,
    // Goes away after the server that is on it.
    place: Place,
}

/// Fills and measures.
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
                    let prepared = prepared(step, sample, round, plan.rounds);
                    let task = task(plan, ready, place.database_process(), step, CONNECTIONS);
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

/// The server makes its tables, goes away while they are filled, and comes back.
async fn grow(place: Place, program: &Path, tokens: u64) -> Result<Grown, RunError> {
    let mut ready = begin(&place, Target::Server, program).await?;
    let mut connection = Connection::open(ready.server.address).await?;
    let example = flow::sign_in(&mut connection, &ready.client, &people()[0]).await?;
    let address = ready.server.address;
    drop(connection);
    ready.server.stop();
    let (url, client) = (ready.launch.database_url().to_owned(), ready.client.clone());
    // It takes minutes, in which somebody may interrupt.
    let filling = tokio::task::spawn_blocking(move || fill::fill(&url, &client, &example, tokens, KNOWN));
    let sample = filling.await.map_err(|error| RunError::Fill(error.to_string()))??;
    ready.server = ready.launch.start_at(address).await?;
    Ok(Grown { tokens, ready, sample, place })
}

/// Each round and each connection has chains of its own; codes are always made freshly, because they live for a minute.
fn prepared(step: Step, sample: &Sample, round: usize, rounds: usize) -> Vec<step::Ready> {
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

/// Which databases of what size.
pub(crate) fn sizes(largest: Option<u64>) -> Vec<u64> {
    SIZES.into_iter().filter(|size| largest.is_none_or(|largest| *size <= largest)).collect()
}
