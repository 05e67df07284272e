//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::cell::Database;
use crate::floor::FloorSettings;
use crate::guard::GuardPlan;
use crate::run::Plan;
use crate::step::Step;

/// Measures the server beside a floor that does only what cannot be avoided.
#[derive(Debug, Parser)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure.
    Run(RunArguments),
    /// Write the documentation again from the results of an earlier run.
    Report(ReportArguments),
    /// Count the instructions of each step and hold them against the recorded figures.
    Guard(GuardArguments),
    /// Serve as the floor.
    Floor(FloorArguments),
}

/// What a run is told.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The server's program, built for release.
    #[arg(long, default_value = "target/release/countersign")]
    pub server: PathBuf,
    /// Two minutes: 64 connections, one short round of each cell, nothing written to the documentation.
    #[arg(long)]
    pub quick: bool,
    /// Only these steps.
    #[arg(long, value_delimiter = ',', value_enum)]
    pub only: Vec<Step>,
    /// Only these databases.
    #[arg(long, value_delimiter = ',', value_enum)]
    pub databases: Vec<Database>,
    /// Only these numbers of connections.
    #[arg(long, value_delimiter = ',')]
    pub connections: Vec<usize>,
    /// How many seconds of each cell are counted.
    #[arg(long)]
    pub seconds: Option<f64>,
    /// How often each cell is measured.
    #[arg(long)]
    pub rounds: Option<usize>,
    /// Also measures how the cost grows with the database, up to so many live tokens: 10000, 1000000 or 10000000.
    #[arg(long, value_name = "TOKENS")]
    pub growth: Option<u64>,
    /// Writes `performance.md` and its plots into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub docs: Option<PathBuf>,
    /// Where the lines of the results go.
    #[arg(long, default_value = "target/bench/results.jsonl")]
    pub results: PathBuf,
}

/// What a report is told.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The lines of the results.
    #[arg(long, default_value = "target/bench/results.jsonl")]
    pub results: PathBuf,
    /// The folder of `performance.md`.
    #[arg(long, default_value = "docs")]
    pub docs: PathBuf,
}

/// What the guard is told.
#[derive(Debug, Args)]
pub struct GuardArguments {
    /// The server's program, built for release.
    #[arg(long, default_value = "target/release/countersign")]
    pub server: PathBuf,
    /// Only these steps. Nothing can be recorded then.
    #[arg(long, value_delimiter = ',', value_enum, conflicts_with = "record")]
    pub only: Vec<Step>,
    /// Writes the figures down instead of holding them against those that are there.
    #[arg(long)]
    pub record: bool,
    /// The recorded figures.
    #[arg(long, default_value = "bench/instructions.toml")]
    pub figures: PathBuf,
}

/// What the floor is told.
#[derive(Debug, Args)]
pub struct FloorArguments {
    /// `sqlite://path` or `postgres://…`; empty, or a floor's.
    #[arg(long)]
    pub database: String,
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:8081")]
    pub bind: SocketAddr,
    /// A folder with `page.html`, `discovery.json` and `keys.json`.
    #[arg(long)]
    pub bodies: Option<PathBuf>,
}

impl RunArguments {
    /// What is to be measured.
    pub fn plan(&self) -> Plan {
        let or = |given: &[usize], default: &[usize]| {
            if given.is_empty() { default.to_vec() } else { given.to_vec() }
        };
        let seconds = self.seconds.unwrap_or(if self.quick { 1.2 } else { 2.0 });
        let measured = Duration::from_secs_f64(seconds.clamp(0.1, 600.0));
        let databases = [Database::Sqlite, Database::Postgres];
        Plan {
            server: std::path::absolute(&self.server).unwrap_or_else(|_| self.server.clone()),
            databases: if self.databases.is_empty() { databases.to_vec() } else { self.databases.clone() },
            steps: if self.only.is_empty() { Step::ALL.to_vec() } else { self.only.clone() },
            connections: or(&self.connections, if self.quick { &[64] } else { &[1, 16, 64, 256] }),
            rounds: self.rounds.unwrap_or(if self.quick { 1 } else { 3 }).max(1),
            warm_up: Duration::from_millis(200),
            measured,
            preparation: measured * 2,
            starts: 5,
            growth: self.growth,
            results: self.results.clone(),
        }
    }
}

impl GuardArguments {
    /// As the guard takes it.
    pub fn plan(&self) -> GuardPlan {
        GuardPlan {
            server: std::path::absolute(&self.server).unwrap_or_else(|_| self.server.clone()),
            steps: if self.only.is_empty() { Step::ALL.to_vec() } else { self.only.clone() },
            record: self.record,
            figures: self.figures.clone(),
        }
    }
}

impl FloorArguments {
    /// As the floor takes it.
    pub fn settings(&self) -> FloorSettings {
        let Self { database, bind, bodies } = self;
        FloorSettings { database: database.clone(), bind: *bind, bodies: bodies.clone() }
    }
}
