//! Measures whether operators and people wait longer among many: a database with ten users in one group, and
//! one with 100,000 users in 1,000 groups, in turn.
//!
//! Everyone who signs in comes in by a group of their wallet, so that each sign-in reads what is known about
//! its wallet. The commands are measured as the operator runs them, with the start of the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::cell::{Database, Target};
use crate::flow::Wallet;
use crate::load::{self, people};
use crate::progress::Progress;
use crate::run::{Plan, Ready, RunError, begin, task};
use crate::servers::Place;
use crate::step::Step;

/// The users and the groups of the two databases.
const SIZES: [(u32, u32); 2] = [(10, 1), (100_000, 1_000)];
/// How many connections sign people in.
const CONNECTIONS: usize = 64;

/// What is measured.
#[derive(Clone, Debug)]
pub struct CrowdPlan {
    /// The server's program, built in release mode.
    pub server: PathBuf,
    /// How often each of it is measured; the table shows medians.
    pub rounds: usize,
    /// The time in which sign-ins are counted.
    pub measured: Duration,
}

/// One line of the table: the same in the small and in the large database.
#[derive(Debug)]
struct Line {
    database: Database,
    what: &'static str,
    times: [Vec<Duration>; 2],
}

/// A filled database, with a server on it.
struct Crowd {
    ready: Ready,
    // Dropped after the server that uses it.
    place: Place,
}

/// Fills the databases, measures, and returns the table.
pub async fn run(plan: &CrowdPlan) -> Result<String, RunError> {
    let people = people();
    let mut progress = Progress::new(2 * (SIZES.len() + plan.rounds * COMMANDS.len() + plan.rounds));
    let mut lines = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        let mut crowds = Vec::new();
        for (users, groups) in SIZES {
            progress.begin(&format!("{}: filling in {users} users", database.title()));
            crowds.push(gather(database, &plan.server, users, groups, &people).await?);
            progress.end();
        }
        for (what, words) in COMMANDS {
            let mut line = Line { database, what, times: [Vec::new(), Vec::new()] };
            for _ in 0..plan.rounds {
                progress.begin(&format!("{}: {what}", database.title()));
                for (crowd, times) in crowds.iter().zip(&mut line.times) {
                    let began = Instant::now();
                    operate(&crowd.ready, &plan.server, words)?;
                    times.push(began.elapsed());
                }
                progress.end();
            }
            lines.push(line);
        }
        let mut line = Line { database, what: "one sign-in of 64 at once", times: [Vec::new(), Vec::new()] };
        for _ in 0..plan.rounds {
            progress.begin(&format!("{}: {}", database.title(), line.what));
            for (crowd, times) in crowds.iter().zip(&mut line.times) {
                times.push(login(plan, crowd, &people).await?);
            }
            progress.end();
        }
        lines.push(line);
    }
    progress.finish();
    Ok(table(lines))
}

/// What an operator runs.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("user list", &["user", "list", "--limit", "50"]),
    ("user list --group", &["user", "list", "--group", "g0", "--limit", "10"]),
    ("group show", &["group", "show", "g0"]),
    ("group list", &["group", "list"]),
];

/// The server creates its tables, and they are filled beside it.
async fn gather(
    database: Database,
    program: &Path,
    users: u32,
    groups: u32,
    people: &[Wallet],
) -> Result<Crowd, RunError> {
    let place = Place::make(database)?;
    let ready = begin(&place, Target::Server, program).await?;
    fill(ready.launch.database_url(), users, groups).map_err(|error| RunError::Fill(error.to_string()))?;
    operate(&ready, program, &["group", "create", "people"])?;
    let mut words = vec!["group", "add", "people"];
    words.extend(people.iter().map(|wallet| wallet.address.as_str()));
    operate(&ready, program, &words)?;
    operate(&ready, program, &["access", "set", &ready.client.id, "groups:people"])?;
    Ok(Crowd { ready, place })
}

/// Runs a command of the operator, which must succeed.
pub(crate) fn operate(ready: &Ready, program: &Path, words: &[&str]) -> Result<(), RunError> {
    let mut command = Command::new(program);
    command.args(words).args(["--output", "json"]).stdin(Stdio::null()).stdout(Stdio::null());
    ready.launch.operate(&mut command);
    let done = command.output().map_err(|source| RunError::File { path: program.to_owned(), source })?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(RunError::Fill(format!("{}: {said}", words.first().unwrap_or(&""))))
}

/// The time of one sign-in.
async fn login(plan: &CrowdPlan, crowd: &Crowd, people: &[Wallet]) -> Result<Duration, RunError> {
    let cell = Plan::of_one_cell(&plan.server, plan.measured);
    let task = task(&cell, &crowd.ready, crowd.place.database_process(), Step::Login, CONNECTIONS);
    let outcome = load::run(task, people, Vec::new()).await;
    match outcome.error {
        Some(error) => Err(RunError::Fill(error)),
        None => Ok(Duration::from_nanos(outcome.p50.into())),
    }
}

/// Every user has a wallet and is in one group; every second wallet is in another one.
fn fill(url: &str, users: u32, groups: u32) -> Result<(), Box<dyn std::error::Error>> {
    let others = "'eip155', '0x' || lpad(n::text, 40, '0')";
    match url.strip_prefix("sqlite://") {
        Some(path) => {
            let mut connection = SqliteConnection::establish(path)?;
            connection.batch_execute("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = ON")?;
            let numbers = format!(
                "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < {users})"
            );
            let few = format!(
                "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < {groups})"
            );
            let user = "unhex(printf('%032x', n * 2654435761 + 1))";
            let wallet = "'eip155', printf('0x%040x', n)";
            connection.batch_execute(&format!(
                "BEGIN IMMEDIATE; \
                 INSERT INTO users (id, created_at) {numbers} SELECT {user}, 1750000000000000 + n FROM s; \
                 INSERT INTO wallets (family, address, user_id, linked_at, chain) {numbers} \
                   SELECT {wallet}, {user}, 1750000000000000 + n, 'eip155:1' FROM s; \
                 INSERT INTO user_groups (name, created_at) {few} SELECT 'g' || n, 1750000000000000 FROM s; \
                 INSERT INTO group_users (group_name, user_id, added_at) {numbers} \
                   SELECT 'g' || (n % {groups}), {user}, 1750000000000000 FROM s; \
                 INSERT INTO group_wallets (group_name, family, address, chain, added_at) {numbers} \
                   SELECT 'g' || (n * 7 % {groups}), {wallet}, 'eip155:1', 1750000000000000 FROM s WHERE n % 2 = 0; \
                 COMMIT; ANALYZE; PRAGMA wal_checkpoint(PASSIVE)"
            ))?;
        }
        None => {
            let numbers = format!("FROM generate_series(0, {users} - 1) AS s(n)");
            let few = format!("FROM generate_series(0, {groups} - 1) AS s(n)");
            let user = "md5(n::text)::uuid";
            PgConnection::establish(url)?.batch_execute(&format!(
                "INSERT INTO users (id, created_at) SELECT {user}, now() {numbers}; \
                 INSERT INTO wallets (family, address, user_id, linked_at, chain) \
                   SELECT {others}, {user}, now(), 'eip155:1' {numbers}; \
                 INSERT INTO user_groups (name, created_at) SELECT 'g' || n, now() {few}; \
                 INSERT INTO group_users (group_name, user_id, added_at) \
                   SELECT 'g' || (n % {groups}), {user}, now() {numbers}; \
                 INSERT INTO group_wallets (group_name, family, address, chain, added_at) \
                   SELECT 'g' || (n * 7 % {groups}), {others}, 'eip155:1', now() {numbers} WHERE n % 2 = 0"
            ))?;
            PgConnection::establish(url)?.batch_execute("VACUUM (ANALYZE)")?;
        }
    }
    Ok(())
}

fn table(lines: Vec<Line>) -> String {
    let mut table =
        "| database | what | among ten | among 100,000 | ratio |\n|---|---|---|---|---|\n".to_owned();
    for Line { database, what, times } in lines {
        let [few, many] = times.map(median);
        let ratio = many.as_secs_f64() / few.as_secs_f64().max(f64::EPSILON);
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {what} | {:.2} ms | {:.2} ms | {ratio:.2} |",
            database.title(),
            few.as_secs_f64() * 1e3,
            many.as_secs_f64() * 1e3
        );
    }
    table
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
