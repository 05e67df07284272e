//! Files that declare clients, groups and resources: `countersign apply`, `countersign export`, and what a server does
//! with `apply_files` when it starts.

mod node;
mod output;
mod places;
mod read;
mod written;

use std::io::Write;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use countersign_operators::declared::apply::{ApplyError, apply as carry_out};
use countersign_operators::declared::make_plan::{PlanError, make_plan};
use countersign_operators::declared::plan::Prune;
use countersign_operators::declared::{DeclaredFiles, Mistake};
use countersign_usecases::Management;

use crate::cli::{ApplyFlags, ExportFlags, Output};
use crate::config::Config;
use crate::database::change_log;
use crate::database::opened::Opened;
use crate::failure::{self, Failure, store};
use crate::output::terminal::{count, note};
use crate::wiring::Wiring;

/// Makes everything as the files declare it.
pub(crate) async fn apply(
    flags: ApplyFlags,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let ApplyFlags { files, dry_run, prune, output } = flags;
    // Read first: a file with a mistake needs no database to say so.
    let files = read(&files)?;
    let prune = if prune { Prune::Delete } else { Prune::Keep };
    Opened::during(config, wiring, async |opened| {
        let management = opened.management();
        let plan = make_plan(management, &files, prune).await.map_err(refused)?;
        // People read what is going to happen, and scripts what has happened.
        if output.output == Output::Table {
            output::plan(&plan, Output::Table, dry_run, out)?;
        }
        if !dry_run {
            carry_out(management, &files, prune, &plan, &change_log::made).await.map_err(interrupted)?;
        }
        if output.output == Output::Json {
            output::plan(&plan, Output::Json, dry_run, out)?;
        }
        Ok(())
    })
    .await
}

/// Does what the files in the settings say, before the server takes requests. Deletes nothing.
pub(crate) async fn at_start(files: &[PathBuf], management: Management<'_>) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let files = read(files)?;
    let plan = make_plan(management, &files, Prune::Keep).await.map_err(refused)?;
    carry_out(management, &files, Prune::Keep, &plan, &change_log::made).await.map_err(interrupted)?;
    tracing::info!(
        files = files.sources.len(),
        changes = plan.changes.len(),
        no_longer_declared = plan.left.len(),
        "everything is as the files declare it"
    );
    Ok(())
}

/// Finds what is wrong with files in themselves. What they refer to may be in a database, which is not asked.
pub(crate) fn check(files: &[PathBuf]) -> Result<(), Failure> {
    read(files).map(drop)
}

/// Writes a file that declares all that is there.
pub(crate) async fn export(
    flags: ExportFlags,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| {
        let exported = countersign_operators::declared::export::export(opened.management()).await;
        let exported = exported.map_err(|error| store(&error))?;
        written::write(&exported, flags.users, out)?;
        if exported.others > 0 {
            let others = count(u64::try_from(exported.others).unwrap_or(u64::MAX), "client");
            note(&format!("left out: {others} that registered themselves, or that documents describe"))?;
        }
        let users: usize = exported.groups.iter().map(|group| group.users.len()).sum();
        if users > 0 && !flags.users {
            let users = count(u64::try_from(users).unwrap_or(u64::MAX), "membership");
            note(&format!("left out: {users} of users, which only this database knows; --users names them"))?;
        }
        for name in &exported.deleted_groups {
            note(&format!(
                "the group {name} was deleted, and something still names it: the file declares it empty"
            ))?;
        }
        Ok(())
    })
    .await
}

fn read(paths: &[PathBuf]) -> Result<DeclaredFiles, Failure> {
    let sources: Vec<Arc<str>> = paths.iter().map(|path| source(path)).collect();
    read::read_files(&sources).map_err(|mistakes| mistaken(&mistakes))
}

/// A file is known by its absolute path, whatever folder a command was called in. Links are not followed: what they
/// point to changes with each release of a configuration.
fn source(path: &Path) -> Arc<str> {
    absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into()
}

fn mistaken(mistakes: &[Mistake]) -> Failure {
    let lines =
        mistakes.iter().map(|mistake| crate::output::terminal::visible(&mistake.to_string()).into_owned());
    Failure::Settings(lines.map(failure::Mistake).collect())
}

fn refused(error: PlanError) -> Failure {
    match error {
        PlanError::Mistakes(mistakes) => mistaken(&mistakes),
        PlanError::Store(error) => store(&error),
    }
}

fn interrupted(error: ApplyError) -> Failure {
    match error {
        ApplyError::Mistakes(mistakes) => mistaken(&mistakes),
        ApplyError::Overtaken => {
            Failure::Failed("the same things keep being changed meanwhile: run it again".to_owned())
        }
        ApplyError::Store(error) => {
            let why = crate::failure::chain(&error);
            Failure::Failed(format!("stopped: {why}. Run it again: it goes on where it stopped"))
        }
    }
}

#[cfg(test)]
mod tests;
