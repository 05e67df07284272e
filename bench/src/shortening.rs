//! Measures what a client's lifetimes cost while many of its tokens are out: whether its userinfo is slower with
//! lifetimes of its own, how long the command takes that shortens them, and whether each token ends with it.
//!
//! A small database beside the large one shows whether any of it grows with the number of tokens.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::cell::{Database, median};
use crate::crowd::operate;
use crate::flow::{StepError, Wallet, user_info};
use crate::growth::{CONNECTIONS, Grown, grow, prepared, read_through};
use crate::http::Connection;
use crate::load::people;
use crate::progress::Progress;
use crate::run::{Plan, RunError, rate, task};
use crate::servers::Place;
use crate::step::Step;

/// Every token is younger than this.
const LONG: &str = "23h";
/// Every token is older than this.
const SHORT: &str = "1m";

/// What is measured.
#[derive(Clone, Debug)]
pub struct ShorteningPlan {
    /// The server's program, built in release mode.
    pub server: PathBuf,
    /// How many tokens there are in the databases, one after the other.
    pub tokens: Vec<u64>,
    /// How often each of it is measured; the table shows medians.
    pub rounds: usize,
    /// The time in which answers are counted.
    pub measured: Duration,
}

/// What was measured in one database.
#[derive(Debug)]
struct Line {
    database: Database,
    tokens: u64,
    /// Answers per second, without lifetimes and with them.
    rates: [Vec<f64>; 2],
    /// Seconds that the command takes, with the start of its program.
    commands: Vec<f64>,
    /// How many tokens were tried after the last shortening. Each had ended.
    ended: usize,
}

/// Fills the databases, measures, and returns the table.
pub async fn run(plan: &ShorteningPlan) -> Result<String, RunError> {
    let people = people();
    let mut progress = Progress::new(2 * plan.tokens.len() * (2 + plan.rounds));
    let mut lines = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        for &tokens in &plan.tokens {
            progress.begin(&format!("{}: filling in {tokens} tokens", database.title()));
            let grown = grow(Place::make(database)?, &plan.server, tokens).await?;
            read_through(grown.place.data_folder()).await?;
            progress.end();
            let mut line =
                Line { database, tokens, rates: Default::default(), commands: Vec::new(), ended: 0 };
            for _ in 0..plan.rounds {
                progress.begin(&format!("{}: userinfo among {tokens} tokens", database.title()));
                line.rates[0].push(user_infos(plan, &grown, &people).await?);
                line.commands.push(shorten(plan, &grown, LONG)?);
                line.rates[1].push(user_infos(plan, &grown, &people).await?);
                let clear = ["client", "update", &grown.ready.client.id, "--clear", "access_token_ttl"];
                operate(&grown.ready, &plan.server, &clear)?;
                progress.end();
            }
            progress.begin(&format!("{}: the end of {tokens} tokens", database.title()));
            line.commands.push(shorten(plan, &grown, SHORT)?);
            line.ended = ended(&grown).await?;
            progress.end();
            lines.push(line);
        }
    }
    progress.finish();
    Ok(table(lines))
}

/// Gives the client this lifetime, and returns the seconds that it took.
fn shorten(plan: &ShorteningPlan, grown: &Grown, lifetime: &str) -> Result<f64, RunError> {
    let began = Instant::now();
    let words = ["client", "update", &grown.ready.client.id, "--access-token-ttl", lifetime];
    operate(&grown.ready, &plan.server, &words)?;
    Ok(began.elapsed().as_secs_f64())
}

/// Answers per second at userinfo.
async fn user_infos(plan: &ShorteningPlan, grown: &Grown, people: &[Wallet]) -> Result<f64, RunError> {
    let cell = Plan::of_one_cell(&plan.server, plan.measured);
    let process = grown.place.database_process();
    let task = task(&cell, &grown.ready, process, Step::Userinfo, CONNECTIONS);
    rate(task, people, prepared(Step::Userinfo, &grown.sample, 0, 1)).await
}

/// Tries every token that the driver knows, and returns how many that are. None may work.
async fn ended(grown: &Grown) -> Result<usize, RunError> {
    let mut connection = Connection::open(grown.ready.server.address).await?;
    for token in &grown.sample.access {
        match user_info(&mut connection, token).await {
            Err(StepError::Status { status: 401, .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Err(RunError::Fill("an access token outlived the shortening".to_owned())),
        }
    }
    Ok(grown.sample.access.len())
}

fn table(lines: Vec<Line>) -> String {
    let mut table = "| database | tokens | userinfo per second | with a lifetime of its own | ratio | shortening | tried afterwards, all ended |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for Line { database, tokens, rates, commands, ended } in lines {
        let [usual, own] = rates.map(median);
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {tokens} | {usual:.0} | {own:.0} | {:.3} | {:.1} ms | {ended} |",
            database.title(),
            own / usual,
            median(commands) * 1e3
        );
    }
    table
}
