//! Measures what events cost: the same steps with events, without them, and, if its program is given, with a
//! server from before there were events. The servers take turns, so that what else the machine does strikes all.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cell::{Database, Target, median};
use crate::flow::Wallet;
use crate::load::people;
use crate::progress::Progress;
use crate::run::{Plan, Ready, RunError, begin_at, rate, task};
use crate::servers::Place;
use crate::step::Step;

/// The steps: those that leave events, and those that must not notice.
const STEPS: [Step; 6] =
    [Step::Login, Step::Register, Step::Revoke, Step::Exchange, Step::Refresh, Step::Userinfo];
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
    /// The time in which answers are counted.
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

/// Answers per second of one rival at one step.
struct Line {
    database: Database,
    step: Step,
    rates: Vec<(&'static str, Vec<f64>)>,
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
            let mut rates: Vec<_> = names.iter().map(|name| (*name, Vec::new())).collect();
            for _ in 0..plan.rounds {
                for rival in &rivals {
                    progress.begin(&format!("{}: {} {}", database.title(), step.name(), rival.name));
                    let rate = answers(plan, rival, step, &people).await?;
                    let of_rival = rates.iter_mut().find(|(name, _)| *name == rival.name);
                    of_rival.into_iter().for_each(|(_, rates)| rates.push(rate));
                    progress.end();
                }
                // Whoever goes first goes last the next time.
                rivals.reverse();
            }
            lines.push(Line { database, step, rates });
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

async fn answers(plan: &EventsPlan, rival: &Rival, step: Step, people: &[Wallet]) -> Result<f64, RunError> {
    let cell = Plan::of_one_cell(rival.ready.launch.program(), plan.measured);
    let task = task(&cell, &rival.ready, rival.place.database_process(), step, CONNECTIONS);
    rate(task, people, Vec::new()).await
}

fn table(lines: Vec<Line>) -> String {
    let mut table =
        "| database | step | server | answers per second | ratio |\n|---|---|---|---|---|\n".to_owned();
    for Line { database, step, rates } in lines {
        let reference = rates.first().map_or(f64::NAN, |(_, rates)| median(rates.iter().copied()));
        for (name, rates) in rates {
            let rate = median(rates);
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "| {} | {} | {name} | {rate:.0} | {:.3} |",
                database.title(),
                step.name(),
                rate / reference
            );
        }
    }
    table
}
