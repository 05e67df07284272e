//! Makes everything as files declare it.

use std::time::Duration;

use countersign_ports::StoreError;
use countersign_usecases::Management;

pub use super::carry_out::Witness;
use super::carry_out::{Run, Stopped, carry_out};
use super::make_plan::{PlanError, make_plan};
use super::plan::{Plan, Prune};
use super::{DeclaredFiles, Mistake};

/// How often a run makes a new plan because of a change by someone else. Two replicas that start together
/// need two.
const TRIES: usize = 8;

/// How long it waits before. By then nothing is remembered from before the other's change (ADR 0024).
const PAUSE: Duration = Duration::from_millis(250);

/// Why not everything is as declared.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// What was right when the plan was made is no longer: what a file refers to was deleted.
    #[error("there are mistakes in the files")]
    Mistakes(Vec<Mistake>),
    /// The same things kept being changed by others.
    #[error("the same things keep being changed meanwhile")]
    Overtaken,
    /// A change could not be stored. Those before it are; another run finishes the rest.
    #[error("a change could not be stored")]
    Store(#[from] StoreError),
}

/// Carries out a plan that was just made. If others changed the same things meanwhile, as a replica does that
/// starts with the same files, it makes another plan and goes on. The witness hears of every act right after it.
pub async fn apply(
    management: Management<'_>,
    files: &DeclaredFiles,
    prune: Prune,
    first: &Plan,
    witness: &Witness,
) -> Result<(), ApplyError> {
    let run = Run { management, witness };
    let mut stopped = Box::pin(carry_out(run, first)).await;
    for _ in 1..TRIES {
        match stopped {
            Ok(()) => return Ok(()),
            Err(Stopped::Store(error)) => return Err(error.into()),
            Err(Stopped::Overtaken) => {
                management.clock.wait(PAUSE).await;
                let again = make_plan(management, files, prune).await.map_err(|error| match error {
                    PlanError::Mistakes(mistakes) => ApplyError::Mistakes(mistakes),
                    PlanError::Store(error) => ApplyError::Store(error),
                })?;
                stopped = Box::pin(carry_out(run, &again)).await;
            }
        }
    }
    match stopped {
        Ok(()) => Ok(()),
        Err(Stopped::Store(error)) => Err(error.into()),
        Err(Stopped::Overtaken) => Err(ApplyError::Overtaken),
    }
}
