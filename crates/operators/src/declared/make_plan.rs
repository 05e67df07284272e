//! Makes the plan of a run. Nothing is changed here.

use countersign_ports::StoreError;
use countersign_usecases::Management;

use super::judge::judge;
use super::plan::{Plan, Prune};
use super::read_state::read_state;
use super::{DeclaredFiles, Mistake};

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There are mistakes in the files, in the order of the files.
    #[error("there are mistakes in the files")]
    Mistakes(Vec<Mistake>),
    /// What is there could not be read.
    #[error("what is there could not be read")]
    Store(#[from] StoreError),
}

/// Compares the files with what is there. A mistake in one of them means that there is no plan at all.
pub async fn make_plan(
    management: Management<'_>,
    files: &DeclaredFiles,
    prune: Prune,
) -> Result<Plan, PlanError> {
    let state = read_state(management, files).await?;
    let mut mistakes = Vec::new();
    let plan = judge(management, files, &state, prune, &mut mistakes).await?;
    if mistakes.is_empty() {
        return Ok(plan);
    }
    let place = |mistake: &Mistake| {
        let file = files.sources.iter().position(|source| *source == mistake.at.file);
        (file, mistake.at.line, mistake.at.column)
    };
    mistakes.sort_by_key(place);
    Err(PlanError::Mistakes(mistakes))
}
