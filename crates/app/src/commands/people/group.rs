//! `countersign group …`.

use std::io::Write;

use countersign_domain::act::{Act, NamedSubject, UsedBy};
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::list_groups::list_groups;
use countersign_operators::people::names::Names;
use countersign_operators::people::read_group::read_group;
use countersign_operators::people::remove_members::Removed;
use countersign_usecases::Management;
use countersign_usecases::act_refused::GroupUse;

use super::{names_of, note_more, who};
use crate::cli::{GroupCommand, KindChoice, Output, Paging};
use crate::commands::make::{effect_of, make, no_group};
use crate::commands::output::people_output::{self, called};
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::{note, visible};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn group(
    command: GroupCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: GroupCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let management = opened.management();
    match command {
        GroupCommand::List { output } => {
            let groups = list_groups(management).await.map_err(|error| store(&error))?;
            Ok(people_output::groups(&groups, output.output, out)?)
        }
        GroupCommand::Create { group, title, member, kind, output } => {
            let members = several(management, &member, kind).await?;
            let effect = make(opened, Act::CreateGroup { group: group.group, title, members }).await?;
            show_effect(opened, &effect, output.output, out).await
        }
        GroupCommand::Show { group, paging, output } => {
            show(opened, &group.group, paging, output.output, out).await
        }
        GroupCommand::Add { group, who, output } => {
            let members = several(management, &who.who, who.kind).await?;
            let effect = make(opened, Act::AddMembers { group: group.group, members }).await?;
            show_effect(opened, &effect, output.output, out).await
        }
        GroupCommand::Remove { group, who, output } => {
            let members = several(management, &who.who, who.kind).await?;
            let effect = make(opened, Act::RemoveMembers { group: group.group, members }).await?;
            show_effect(opened, &effect, output.output, out).await
        }
        GroupCommand::Delete { group, force, output } => {
            let operating = Operating::new(management).insisting(force);
            let (used_by, needed_by) = (UsedBy::default(), Vec::new());
            let act = Act::DeleteGroup { group: group.group, used_by, needed_by };
            show_effect(opened, &effect_of(operating, act).await?, output.output, out).await
        }
    }
}

/// Finds everyone who is named, each once.
async fn several(
    management: Management<'_>,
    names: &[String],
    kind: KindChoice,
) -> Result<Vec<NamedSubject>, Failure> {
    let mut named: Vec<Subject> = Vec::with_capacity(names.len());
    for name in names {
        let who = who::either(management, name, kind).await?;
        if !named.contains(&who) {
            named.push(who);
        }
    }
    Ok(named.into_iter().map(NamedSubject::from).collect())
}

async fn show(
    opened: &Opened<'_>,
    name: &GroupName,
    Paging { limit, after, kind }: Paging,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
    let after = match after {
        Some(text) => Some(who::either(management, &text, kind).await?),
        None => None,
    };
    let read = read_group(management, name, after, limit).await.map_err(|error| store(&error))?;
    let Some(read) = read else { return Err(no_group(management, name).await?) };
    let names = names_of(opened, read.members.iter().map(|member| &member.member)).await?;
    people_output::group(&read, &names, output, out)?;
    match read.members.last() {
        Some(last) if read.more => note_more(&last.member.to_string()),
        Some(_) | None => Ok(()),
    }
}

/// Shows what an act on a group did.
async fn show_effect(
    opened: &Opened<'_>,
    effect: &Effect,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Effect::GroupCreated(group) = effect {
        people_output::created_group(group, output, out)?;
    }
    if let Effect::GroupDeleted(found) = effect {
        show_deleted(found, output, out)?;
    }
    if let Effect::Added(group, added) = effect {
        let names = names_of(opened, added.iter().map(|added| &added.who)).await?;
        people_output::added(group, added, &names, output, out)?;
    }
    if let Effect::Removed(group, removed) = effect {
        let who = removed.iter().flat_map(|removed| std::iter::once(&removed.who).chain(&removed.still));
        show_removed(group, removed, &names_of(opened, who).await?, output, out)?;
    }
    Ok(())
}

fn show_deleted(found: &GroupUse, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    let name = &found.counted.group.name;
    people_output::deleted_group(name, found, output, out)?;
    let rules = found.rules_in_words();
    if !rules.is_empty() {
        let rules = rules.join("; ");
        note(&visible(&format!("no one gets anything through {name} any more: {rules}")))?;
    }
    Ok(())
}

fn show_removed(
    name: &GroupName,
    removed: &[Removed],
    names: &Names,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if removed.iter().any(|removed| removed.was_member) {
        people_output::removed(name, removed, names, output, out)?;
    }
    let still = |removed: &Removed| {
        let ways: Vec<_> = removed.still.iter().map(|way| called(way, names)).collect();
        (!ways.is_empty()).then(|| format!("their user is in {name} as {}", ways.join(", ")))
    };
    for (removed, still) in removed.iter().filter_map(|removed| Some((removed, still(removed)?))) {
        if removed.was_member {
            note(&format!("{} was removed, but {still}", called(&removed.who, names)))?;
        }
    }
    let strangers: Vec<_> = removed
        .iter()
        .filter(|removed| !removed.was_member)
        .map(|removed| {
            let but = still(removed).map(|still| format!(", but {still}")).unwrap_or_default();
            format!("{} is no member of {name}{but}", called(&removed.who, names))
        })
        .collect();
    if strangers.is_empty() { Ok(()) } else { Err(Failure::Failed(strangers.join("; "))) }
}
