//! Measures what events cost: the same steps with events, without them, and, if its program is given, with a
//! server from before there were events. What counts is the processor time from the first request until the last event is
//! sealed. Rates cannot show it: events are sealed every few seconds, so it is chance how much of that falls into the seconds
//! that are measured.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use crate::cell::{Database, Target, median};
use crate::flow::Wallet;
use crate::load::{self, Task, people};
use crate::machine::{own_processor_time, processor_time};
use crate::progress::Progress;
use crate::run::{Plan, Ready, RunError, begin_at, task};
use crate::servers::Place;
use crate::step::Step;

/// The steps that leave events.
const STEPS: [Step; 3] = [Step::Login, Step::Register, Step::Revoke];
/// Longer than from one sealing to the next.
const SEALING: Duration = Duration::from_millis(8_500);
/// A server that takes less processor time in this time has nothing to do.
const REST: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(500));
/// How often a server is looked at until it has nothing to do.
const LOOKS: usize = 240;
/// How many connections ask at once.
const CONNECTIONS: usize = 64;

/// What is measured.
#[derive(Clone, Debug)]
pub struct EventsPlan {
    /// The server's program, built in release mode.
    pub server: PathBuf,
    /// The program of a server from before there were events.
    pub before: Option<PathBuf>,
    /// How often each of it is measured; the table shows medians.
    pub rounds: usize,
    /// The time in which requests are sent.
    pub measured: Duration,
    /// The databases.
    pub databases: Vec<Database>,
}

/// A server that is measured. The first one is what the others are compared with.
struct Rival {
    name: &'static str,
    ready: Ready,
    // Dropped after the server that uses it.
    place: Place,
}

/// What one answer of a server at one step costs, in microseconds of processor time.
#[derive(Clone, Copy)]
struct Cost {
    server: f64,
    database: f64,
    /// What asks.
    driver: f64,
}

/// What each rival takes for one step, in each round.
struct Line {
    database: Database,
    step: Step,
    costs: Vec<(&'static str, Vec<Cost>)>,
}

/// Measures, and returns the table.
pub async fn run(plan: &EventsPlan) -> Result<String, RunError> {
    let people = people();
    let rivals = if plan.before.is_some() { 3 } else { 2 };
    let mut progress = Progress::new(plan.databases.len() * (1 + STEPS.len() * plan.rounds * rivals));
    let mut lines = Vec::new();
    for &database in &plan.databases {
        progress.begin(&format!("{}: starting", database.title()));
        let mut rivals = start(plan, database).await?;
        progress.end();
        // The first is what the others are compared with, whoever goes first in a round.
        let names: Vec<&'static str> = rivals.iter().map(|rival| rival.name).collect();
        for step in STEPS {
            let mut costs: Vec<_> = names.iter().map(|name| (*name, Vec::new())).collect();
            for _ in 0..plan.rounds {
                for rival in &rivals {
                    progress.begin(&format!("{}: {} {}", database.title(), step.name(), rival.name));
                    let cost = cost(plan, rival, step, &people).await?;
                    let of_rival = costs.iter_mut().find(|(name, _)| *name == rival.name);
                    of_rival.into_iter().for_each(|(_, costs)| costs.push(cost));
                    progress.end();
                }
                // Whoever goes first goes last the next time.
                rivals.reverse();
            }
            lines.push(Line { database, step, costs });
        }
    }
    progress.finish();
    Ok(table(lines))
}

async fn start(plan: &EventsPlan, database: Database) -> Result<Vec<Rival>, RunError> {
    let mut rivals = Vec::new();
    let without: &[_] = &[("COUNTERSIGN_EVENT_RETENTION", "0")];
    let before = plan.before.as_deref().map(|program| ("before events", program, &[][..]));
    let now: [(&str, &Path, &[_]); 2] =
        [("without events", &plan.server, without), ("with events", &plan.server, &[])];
    for (name, program, settings) in before.into_iter().chain(now) {
        let place = Place::make(database)?;
        let ready = begin_at(place.launch(Target::Server, program).with(settings)).await?;
        rivals.push(Rival { name, ready, place });
    }
    Ok(rivals)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a few millions are exact in a float")]
async fn cost(plan: &EventsPlan, rival: &Rival, step: Step, people: &[Wallet]) -> Result<Cost, RunError> {
    let cell = Plan::of_one_cell(rival.ready.launch.program(), plan.measured);
    let task = task(&cell, &rival.ready, rival.place.database_process(), step, CONNECTIONS);
    let task = Task { warm_up: Duration::ZERO, ..task };
    let ready = load::prepared(&task, people).await.map_err(RunError::Fill)?;
    // What prepares revocations signs in, which leaves events, too.
    settle(task.processes).await?;
    let (before, before_of_driver) = (times(task.processes), own_processor_time());
    let processes = task.processes;
    let outcome = load::run(task, people, ready).await;
    let driver = own_processor_time().saturating_sub(before_of_driver);
    settle(processes).await?;
    let after = times(processes);
    if let Some(error) = outcome.error {
        return Err(RunError::Fill(error));
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / outcome.answers.max(1) as f64;
    Ok(Cost {
        server: each(after.0.saturating_sub(before.0)),
        database: each(after.1.saturating_sub(before.1)),
        driver: each(driver),
    })
}

/// Processor time of the server, and of the database.
fn times((server, database): (u32, Option<u32>)) -> (Duration, Duration) {
    (processor_time(server), database.map(processor_time).unwrap_or_default())
}

/// Waits until events are sealed, and the server has nothing to do.
async fn settle(processes: (u32, Option<u32>)) -> Result<(), RunError> {
    let both = || {
        let (server, database) = times(processes);
        server.saturating_add(database)
    };
    sleep(SEALING).await;
    for _ in 0..LOOKS {
        let before = both();
        sleep(REST.1).await;
        if both().saturating_sub(before) <= REST.0 {
            return Ok(());
        }
    }
    Err(RunError::Fill("the server still works two minutes after the last request".to_owned()))
}

impl Cost {
    fn median(costs: &[Self]) -> Self {
        let of = |part: fn(&Self) -> f64| median(costs.iter().map(part));
        Self {
            server: of(|cost| cost.server),
            database: of(|cost| cost.database),
            driver: of(|cost| cost.driver),
        }
    }

    fn all(self) -> f64 {
        self.server + self.database + self.driver
    }
}

/// The rate is that of a machine whose processors have nothing else to do.
fn table(lines: Vec<Line>) -> String {
    let mut table = "Microseconds of processor time for each answer, until its event is sealed.\n\n\
        | database | step | server | by the server | by the database | by the driver | rate |\n\
        |---|---|---|---:|---:|---:|---:|\n"
        .to_owned();
    for Line { database, step, costs } in lines {
        let costs: Vec<_> = costs.into_iter().map(|(name, costs)| (name, Cost::median(&costs))).collect();
        let reference = costs.first().map_or(f64::NAN, |(_, cost)| cost.all());
        for (name, cost) in costs {
            let Cost { server, database: by_database, driver } = cost;
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "| {} | {} | {name} | {server:.1} | {by_database:.1} | {driver:.1} | {:.3} |",
                database.title(),
                step.name(),
                reference / cost.all()
            );
        }
    }
    table
}
