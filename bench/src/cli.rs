//! The command line.

use std::io;
use std::net::SocketAddr;
use std::path::{self, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::cell::Database;
use crate::crowd::CrowdPlan;
use crate::events::EventsPlan;
use crate::floor::FloorSettings;
use crate::guard::GuardPlan;
use crate::run::Plan;
use crate::shortening::ShorteningPlan;
use crate::step::Step;

/// Measures the server beside a floor, which does only what cannot be avoided.
#[derive(Debug, Parser)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the server and the floor.
    Run(RunArguments),
    /// Write the documentation again from the results of an earlier run.
    Report(ReportArguments),
    /// Count the instructions of each step and compare them with the recorded figures.
    Guard(GuardArguments),
    /// Measure operators' commands and sign-ins among ten users and among 100,000.
    Crowd(CrowdArguments),
    /// Measure what events cost: steps with events and without.
    Events(EventsArguments),
    /// Measure what a client's lifetimes cost, and shorten them while a million of its tokens are out.
    Shortening(ShorteningArguments),
    /// Run the floor server.
    Floor(FloorArguments),
}

/// The arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The server's program, built in release mode.
    #[arg(long, default_value = "target/release/countersign", value_parser = program)]
    pub server: PathBuf,
    /// A short run of two minutes: 64 connections, one short round per cell. The documentation is not
    /// written.
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
    /// Also measure how the cost grows with the database, up to this many live tokens: 10000, 1000000 or
    /// 10000000.
    #[arg(long, value_name = "TOKENS")]
    pub growth: Option<u64>,
    /// Write `performance.md` and its plots into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub docs: Option<PathBuf>,
    /// The file for the results.
    #[arg(long, default_value = "target/bench/results.jsonl")]
    pub results: PathBuf,
}

/// The arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The file with the results.
    #[arg(long, default_value = "target/bench/results.jsonl")]
    pub results: PathBuf,
    /// The folder of `performance.md`.
    #[arg(long, default_value = "docs/reports")]
    pub docs: PathBuf,
}

/// The arguments of `guard`.
#[derive(Debug, Args)]
pub struct GuardArguments {
    /// The server's program, as it is built for the tests.
    #[arg(long, default_value = "target/debug/countersign", value_parser = program)]
    pub server: PathBuf,
    /// Only these steps. Recording is then not possible.
    #[arg(long, value_delimiter = ',', value_enum, conflicts_with = "record")]
    pub only: Vec<Step>,
    /// Record the figures instead of comparing them.
    #[arg(long)]
    pub record: bool,
    /// The recorded figures.
    #[arg(long, default_value = "bench/instructions.toml")]
    pub figures: PathBuf,
}

/// The arguments of `crowd`.
#[derive(Debug, Args)]
pub struct CrowdArguments {
    /// The server's program, built in release mode.
    #[arg(long, default_value = "target/release/countersign", value_parser = program)]
    pub server: PathBuf,
    /// How often each line is measured.
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
}

/// The arguments of `events`.
#[derive(Debug, Args)]
pub struct EventsArguments {
    /// The server's program, built in release mode.
    #[arg(long, default_value = "target/release/countersign", value_parser = program)]
    pub server: PathBuf,
    /// The program of a server from before there were events.
    #[arg(long, value_parser = program)]
    pub before: Option<PathBuf>,
    /// How often each line is measured.
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// How many seconds each of it takes requests.
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    /// Only these databases.
    #[arg(long, value_delimiter = ',', value_enum)]
    pub databases: Vec<Database>,
}

/// The arguments of `shortening`.
#[derive(Debug, Args)]
pub struct ShorteningArguments {
    /// The server's program, built in release mode.
    #[arg(long, default_value = "target/release/countersign", value_parser = program)]
    pub server: PathBuf,
    /// How many tokens there are in the large database; the small one has a hundredth.
    #[arg(long, default_value_t = 1_000_000)]
    pub tokens: u64,
    /// How often each line is measured.
    #[arg(long, default_value_t = 9)]
    pub rounds: usize,
}

/// The arguments of `floor`.
#[derive(Debug, Args)]
pub struct FloorArguments {
    /// `sqlite://path` or `postgres://…`; the database must be empty or belong to a floor.
    #[arg(long)]
    pub database: String,
    /// The address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:8081")]
    pub bind: SocketAddr,
    /// A folder with `page.html`, `discovery.json` and `keys.json`.
    #[arg(long)]
    pub bodies: Option<PathBuf>,
}

/// A program by its whole path, because it is started in other folders.
fn program(path: &str) -> io::Result<PathBuf> {
    path::absolute(path)
}

impl CrowdArguments {
    /// The plan for the measurement.
    pub fn plan(&self) -> CrowdPlan {
        CrowdPlan {
            server: self.server.clone(),
            rounds: self.rounds.max(1),
            measured: Duration::from_secs(1),
        }
    }
}

impl ShorteningArguments {
    /// The plan for the measurement.
    pub fn plan(&self) -> ShorteningPlan {
        ShorteningPlan {
            server: self.server.clone(),
            tokens: [self.tokens / 100, self.tokens].map(|tokens| tokens.max(100)).to_vec(),
            rounds: self.rounds.max(1),
            measured: Duration::from_secs(1),
        }
    }
}

impl EventsArguments {
    /// The plan for the measurement.
    pub fn plan(&self) -> EventsPlan {
        let databases = match &*self.databases {
            [] => vec![Database::Sqlite, Database::Postgres],
            some => some.to_vec(),
        };
        EventsPlan {
            server: self.server.clone(),
            before: self.before.clone(),
            rounds: self.rounds.max(1),
            measured: Duration::from_secs_f64(self.seconds.clamp(0.1, 60.0)),
            databases,
        }
    }
}

impl RunArguments {
    /// The plan for the run.
    pub fn plan(&self) -> Plan {
        let or = |given: &[usize], default: &[usize]| {
            if given.is_empty() { default.to_vec() } else { given.to_vec() }
        };
        let seconds = self.seconds.unwrap_or(if self.quick { 1.2 } else { 2.0 });
        let measured = Duration::from_secs_f64(seconds.clamp(0.1, 600.0));
        let databases = [Database::Sqlite, Database::Postgres];
        Plan {
            server: self.server.clone(),
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
    /// The plan for the guard.
    pub fn plan(&self) -> GuardPlan {
        GuardPlan {
            server: self.server.clone(),
            steps: if self.only.is_empty() { Step::ALL.to_vec() } else { self.only.clone() },
            record: self.record,
            figures: self.figures.clone(),
        }
    }
}

impl FloorArguments {
    /// The settings for the floor.
    pub fn settings(&self) -> FloorSettings {
        let Self { database, bind, bodies } = self;
        FloorSettings { database: database.clone(), bind: *bind, bodies: bodies.clone() }
    }
}
