//! `countersign group …`.

use std::io::Write;

use countersign_domain::group::GroupName;
use countersign_domain::scope::ScopeName;
use countersign_usecases::Management;
use countersign_usecases::people::Who;
use countersign_usecases::people::add_members::{AddMembersError, add_members};
use countersign_usecases::people::create_group::{CreateGroupError, create_group};
use countersign_usecases::people::delete_group::{DeleteGroupError, GroupUse, delete_group};
use countersign_usecases::people::list_groups::list_groups;
use countersign_usecases::people::read_group::read_group;
use countersign_usecases::people::remove_members::{RemoveMembersError, Removed, remove_members};

use super::who::no_user;
use super::{note_more, who};
use crate::change_log::{self, GroupChange, MemberChange};
use crate::cli::{GroupCommand, KindChoice, Output, Paging};
use crate::client_command::store;
use crate::config::Config;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::people_output::{self, called};
use crate::terminal::{count, nearest, note};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn group(
    command: GroupCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened.management(), out).await).await
}

async fn carry_out(
    command: GroupCommand,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        GroupCommand::List { output } => {
            let groups = list_groups(management).await.map_err(|error| store(&error))?;
            Ok(people_output::groups(&groups, output.output, out)?)
        }
        GroupCommand::Create { group, title, output } => {
            let name = group.group;
            let created = create_group(management, name.clone(), title).await;
            let created = created.map_err(|error| match error {
                CreateGroupError::NameTaken => Failure::Failed(format!("there is a group {name} already")),
                CreateGroupError::Store(error) => store(&error),
            })?;
            change_log::group(&created.name, GroupChange::Created);
            Ok(people_output::created_group(&created, output.output, out)?)
        }
        GroupCommand::Show { group, paging, output } => {
            show(management, &group.group, paging, output.output, out).await
        }
        GroupCommand::Add { group, who, output } => {
            let named = several(management, &who.who, who.kind).await?;
            add(management, &group.group, named, output.output, out).await
        }
        GroupCommand::Remove { group, who, output } => {
            let named = several(management, &who.who, who.kind).await?;
            remove(management, &group.group, named, output.output, out).await
        }
        GroupCommand::Delete { group, force, output } => {
            delete(management, &group.group, force, output.output, out).await
        }
    }
}

/// There is no such group. Suggests the one that was probably meant.
pub(super) async fn unknown(management: Management<'_>, name: &GroupName) -> Result<Failure, Failure> {
    let groups = list_groups(management).await.map_err(|error| store(&error))?;
    let names = groups.into_iter().map(|counted| counted.group.name.to_string());
    let hint = match nearest(name.as_str(), names) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => format!(": `countersign group create {name}` creates it"),
    };
    Ok(Failure::Failed(format!("there is no group {name}{hint}")))
}

async fn several(
    management: Management<'_>,
    names: &[String],
    kind: KindChoice,
) -> Result<Vec<Who>, Failure> {
    let mut named: Vec<Who> = Vec::with_capacity(names.len());
    for name in names {
        let who = who::either(management, name, kind).await?;
        if !named.contains(&who) {
            named.push(who);
        }
    }
    Ok(named)
}

async fn show(
    management: Management<'_>,
    name: &GroupName,
    Paging { limit, after, kind }: Paging,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let after = match after {
        Some(text) => Some(who::either(management, &text, kind).await?),
        None => None,
    };
    let read = read_group(management, name, after, limit).await.map_err(|error| store(&error))?;
    let Some(read) = read else { return Err(unknown(management, name).await?) };
    people_output::group(&read, output, out)?;
    match read.members.last() {
        Some(last) if read.more => note_more(&people_output::member_name(&last.member)),
        Some(_) | None => Ok(()),
    }
}

async fn add(
    management: Management<'_>,
    name: &GroupName,
    named: Vec<Who>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let added = match add_members(management, name, named).await {
        Ok(added) => added,
        Err(AddMembersError::GroupUnknown) => return Err(unknown(management, name).await?),
        Err(AddMembersError::UserUnknown(user)) => return Err(no_user(user)),
        Err(AddMembersError::Store(error)) => return Err(store(&error)),
    };
    for added in added.iter().filter(|added| !added.already) {
        change_log::member(name, &added.who, MemberChange::Added);
    }
    Ok(people_output::added(name, &added, output, out)?)
}

async fn remove(
    management: Management<'_>,
    name: &GroupName,
    named: Vec<Who>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let removed = match remove_members(management, name, named).await {
        Ok(removed) => removed,
        Err(RemoveMembersError::GroupUnknown) => return Err(unknown(management, name).await?),
        Err(RemoveMembersError::Store(error)) => return Err(store(&error)),
    };
    for removed in removed.iter().filter(|removed| removed.was_member) {
        change_log::member(name, &removed.who, MemberChange::Removed);
    }
    if removed.iter().any(|removed| removed.was_member) {
        people_output::removed(name, &removed, output, out)?;
    }
    let still = |removed: &Removed| {
        let ways: Vec<_> = removed.still.iter().map(called).collect();
        (!ways.is_empty()).then(|| format!("their user is in {name} as {}", ways.join(", ")))
    };
    for (removed, still) in removed.iter().filter_map(|removed| Some((removed, still(removed)?))) {
        if removed.was_member {
            note(&format!("{} was removed, but {still}", called(&removed.who)))?;
        }
    }
    let strangers: Vec<_> = removed
        .iter()
        .filter(|removed| !removed.was_member)
        .map(|removed| {
            let but = still(removed).map(|still| format!(", but {still}")).unwrap_or_default();
            format!("{} is no member of {name}{but}", called(&removed.who))
        })
        .collect();
    if strangers.is_empty() { Ok(()) } else { Err(Failure::Failed(strangers.join("; "))) }
}

async fn delete(
    management: Management<'_>,
    name: &GroupName,
    by_force: bool,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let found = match delete_group(management, name, by_force, None).await {
        Ok(found) => found,
        Err(DeleteGroupError::GroupUnknown) => return Err(unknown(management, name).await?),
        Err(DeleteGroupError::InUse(found)) => {
            return Err(Failure::Failed(format!(
                "{name} is in use: {}. --force deletes it, and nobody gets anything by it any more",
                uses(&found).join("; ")
            )));
        }
        Err(DeleteGroupError::Store(error)) => return Err(store(&error)),
    };
    change_log::group(name, GroupChange::Deleted);
    people_output::deleted_group(name, &found, output, out)?;
    let rules = rules(&found);
    if !rules.is_empty() {
        note(&format!("nobody gets anything by {name} any more: {}", rules.join("; ")))?;
    }
    Ok(())
}

/// What a group is good for, in words.
fn uses(found: &GroupUse) -> Vec<String> {
    let mut uses = Vec::new();
    if found.counted.users > 0 || found.counted.wallets > 0 {
        uses.push(format!("it has {}", people_output::members(&found.counted)));
    }
    uses.extend(rules(found));
    uses
}

fn rules(found: &GroupUse) -> Vec<String> {
    let mut rules = Vec::new();
    if !found.clients.is_empty() {
        let number = u64::try_from(found.clients.len()).unwrap_or(u64::MAX);
        let names: Vec<_> = found.clients.iter().map(people_output::client_name).collect();
        rules.push(format!("the rule of {} names it ({})", count(number, "client"), names.join(", ")));
    }
    if found.is_default {
        rules.push("the setting default_access names it".to_owned());
    }
    if !found.scopes.is_empty() {
        let names: Vec<_> = found.scopes.iter().map(ScopeName::as_str).collect();
        rules.push(format!("scopes need it ({})", names.join(", ")));
    }
    rules
}
