//! Compares the instructions of each step with the recorded figures.
//!
//! Times differ from machine to machine and from minute to minute; instruction counts hardly do. The real
//! server runs under callgrind on a fresh SQLite file, with one worker and one connection, so that each
//! request is a commit of its own.
//!
//! Work that runs by the clock only adds to a window: upkeep, timers, a checkpoint of SQLite's log. So
//! short windows are counted for each step, and the figure is the lowest of them.

mod callgrind;
mod figures;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::cell::{Database, Target};
use crate::flow::{self, StepError, Wallet};
use crate::http::{Connection, HttpError};
use crate::progress::Progress;
use crate::servers::{Place, StartError};
use crate::step::{Step, perform, prepare};
use callgrind::{Callgrind, CallgrindError};
use figures::{Figures, Recorded};
pub use figures::{FiguresError, Verdict};

/// Requests before counting starts: caches fill, statements are prepared, code is translated.
const WARM_UP: usize = 30;
/// Enough that one of them has no work in it that runs by the clock.
const WINDOWS: usize = 13;
/// A step that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// What the guard should do.
#[derive(Clone, Debug)]
pub struct GuardPlan {
    /// The server's program, built in release mode.
    pub server: PathBuf,
    /// The steps to count.
    pub steps: Vec<Step>,
    /// True to record the figures.
    pub record: bool,
    /// The file with the recorded figures.
    pub figures: PathBuf,
}

/// The guard has no verdict.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The server does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A step fails.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A connection fails.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Nothing can be counted.
    #[error(transparent)]
    Callgrind(#[from] CallgrindError),
    /// The recorded figures cannot be used.
    #[error(transparent)]
    Figures(#[from] FiguresError),
    /// A step does not finish.
    #[error("{0} does not finish")]
    Endless(&'static str),
}

/// Counts, compares the figures with the recorded ones, and records them if asked to.
pub async fn guard(plan: &GuardPlan) -> Result<Verdict, GuardError> {
    // Checked first: if the figures cannot be read, counting for minutes would be useless.
    let recorded = Recorded::read(&plan.figures)?;
    let now = Figures { libraries: figures::libraries(), steps: count(&plan.server, &plan.steps).await? };
    if plan.record {
        recorded.with(now.clone()).write(&plan.figures)?;
    }
    Ok(recorded.judge(now))
}

/// Thousands of instructions per request, for each step. Two steps are counted at a time, because a server under
/// callgrind keeps one processor busy. What the other one does is not counted.
async fn count(server: &Path, steps: &[Step]) -> Result<BTreeMap<Step, f64>, GuardError> {
    let progress = RefCell::new(Progress::new(steps.len()));
    let waiting = RefCell::new(steps.iter().copied());
    let next = || waiting.borrow_mut().next();
    let lane = async || -> Result<Vec<(Step, f64)>, GuardError> {
        let mut figures = Vec::new();
        while let Some(step) = next() {
            progress.borrow().begin(step.name());
            let counted = timeout(PATIENCE, count_step(step, server)).await;
            figures.push((step, counted.map_err(|_| GuardError::Endless(step.name()))??));
            progress.borrow_mut().end();
        }
        Ok(figures)
    };
    let (one, other) = tokio::try_join!(lane(), lane())?;
    progress.borrow().finish();
    Ok(one.into_iter().chain(other).collect())
}

/// The number of requests in each window. Few make a figure less exact: what a window itself costs is shared by them.
const fn requests_of(step: Step) -> usize {
    if matches!(step, Step::Flow) {
        2
    } else if matches!(step, Step::Login | Step::Exchange | Step::Refresh) {
        3
    } else {
        25
    }
}

/// Each step has a server and a database of its own, so that its figure does not depend on the steps before.
async fn count_step(step: Step, server: &Path) -> Result<f64, GuardError> {
    let place = Place::make(Database::Sqlite)?;
    let launch = place.launch(Target::Server, server);
    let folder = launch.folder().to_owned();
    let server = launch.under(callgrind::command(&folder), 1).start().await?;
    let mut connection = Connection::open(server.address).await?;
    let client = flow::register(&mut connection).await?;
    let mut wallets = iter::repeat(Wallet::from_seed(1));
    let (until, all) = (Instant::now() + PATIENCE, WARM_UP + WINDOWS * requests_of(step));
    let mut ready = prepare(step, &mut connection, &client, &mut wallets, until, all).await?;
    let mut repeat = async |times: usize| -> Result<(), StepError> {
        for _ in 0..times {
            perform(step, &mut connection, &client, &mut ready, &mut wallets).await?;
        }
        Ok(())
    };
    let mut callgrind = Callgrind::attach(folder, server.process()).await?;
    repeat(WARM_UP).await?;
    callgrind.zero().await?;
    let mut windows = [0; WINDOWS];
    for window in &mut windows {
        repeat(requests_of(step)).await?;
        *window = callgrind.take().await?;
    }
    Ok(thousands_each(windows, requests_of(step)))
}

/// The lowest window per request, in thousands, with one decimal.
fn thousands_each(windows: [u64; WINDOWS], requests: usize) -> f64 {
    let lowest = windows.into_iter().min().unwrap_or_default();
    (lowest as f64 / requests as f64 / 100.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_were_hit_do_not_show() {
        let [usual, hit] = [502_000, 9_000_000];
        let mut windows = [hit; WINDOWS];
        windows[WINDOWS - 1] = usual;
        assert_eq!(thousands_each(windows, 5), 100.4);
    }
}
