//! `countersign access …`.

use std::io::Write;

use countersign_domain::act::Act;
use countersign_operators::operate::Effect;
use countersign_operators::people::read_access::{AccessRead, read_access};

use crate::cli::{AccessCommand, NewRule};
use crate::commands::client::find;
use crate::commands::make::make;
use crate::commands::output::people_output;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::note;
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn access(
    command: AccessCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: AccessCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let management = opened.management();
    match command {
        AccessCommand::Show { client, output } => {
            let client = find(management, &client).await?;
            let read = read_access(management, client).await.map_err(|error| store(&error))?;
            let default = &management.policy.default_access;
            people_output::access(&read, default, output.output, out)?;
            warn(&read)
        }
        AccessCommand::Set { client, rule: NewRule(rule), release, output } => {
            let client = find(management, &client).await?.id.into();
            let effect = make(opened, Act::SetAccess { client, rule, release }).await?;
            let Effect::AccessChanged(changed) = effect else { return Ok(()) };
            let default = &management.policy.default_access;
            people_output::changed_access(&changed, default, output.output, out)?;
            warn(&changed.now)
        }
    }
}

/// Says what may surprise: no one gets in, or a group is not there.
fn warn(read: &AccessRead) -> Result<(), Failure> {
    let client = people_output::client_name(&read.client);
    for (name, _) in read.groups.iter().filter(|(_, counted)| counted.is_none()) {
        note(&format!("there is no group {name}, so no one gets in through it"))?;
    }
    if read.lets_somebody_in() {
        return Ok(());
    }
    // What is said of groups that are not there is enough.
    match read.groups.iter().find(|(_, counted)| counted.is_some()) {
        None if !read.groups.is_empty() => Ok(()),
        None => note(&format!("no one can sign in to {client} now")),
        Some((name, _)) => note(&format!(
            "no group of the rule has members, so no one can sign in to {client} now: see `countersign group add \
             {name} WHO`"
        )),
    }
}
