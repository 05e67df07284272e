//! `countersign operator …`.

use std::io::Write;

use countersign_domain::act::Act;
use countersign_domain::subject::Subject;
use countersign_operators::operate::Effect;
use countersign_operators::people::list_operators::{MOST_OPERATORS, list_operators};

use super::{names_of, who};
use crate::cli::{OperatorCommand, Output, WhoChoice};
use crate::commands::make::make;
use crate::commands::output::people_output;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::note;
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn operator(
    command: OperatorCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(
    command: OperatorCommand,
    opened: &Opened<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        OperatorCommand::List { output } => list(opened, output.output, out).await,
        OperatorCommand::Suspend { who, reason, output } => {
            let act = Act::Suspend { who: named(opened, &who).await?.into(), reason: reason.reason };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
        OperatorCommand::Restore { who, output } => {
            let act = Act::Restore { who: named(opened, &who).await?.into() };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
    }
}

/// The operator who is meant: a wallet means the user it belongs to, if it belongs to one.
async fn named(opened: &Opened<'_>, choice: &WhoChoice) -> Result<Subject, Failure> {
    let management = opened.management();
    let found = who::either(management, &choice.who, choice.kind).await?;
    let Subject::Wallet(wallet) = &found else { return Ok(found) };
    let owner = management.storage.find_owner(wallet.clone()).await.map_err(|error| store(&error))?;
    Ok(owner.map_or(found, Subject::User))
}

async fn show_effect(
    opened: &Opened<'_>,
    effect: Effect,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Effect::OperatorSuspended(who, suspended) = &effect {
        let names = names_of(opened, [who]).await?;
        people_output::suspended(who, &names, *suspended, output, out)?;
    }
    if let Effect::OperatorRestored(who, was_suspended) = &effect {
        let names = names_of(opened, [who]).await?;
        if !was_suspended {
            return Err(Failure::Failed(format!("{} is not suspended", people_output::called(who, &names))));
        }
        people_output::restored(who, &names, output, out)?;
    }
    Ok(())
}

async fn list(opened: &Opened<'_>, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    let listed = list_operators(opened.management(), MOST_OPERATORS).await.map_err(|error| store(&error))?;
    let names = names_of(opened, listed.operators.iter().map(|operator| &operator.who)).await?;
    people_output::operators(&listed.operators, &names, output, out)?;
    if listed.more {
        Ok(note(&format!("there are more: {MOST_OPERATORS} of each kind are shown"))?)
    } else {
        Ok(())
    }
}
