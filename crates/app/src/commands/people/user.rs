//! `countersign user …`.

use std::io::Write;

use countersign_domain::act::{Act, OfflineAccess};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_operators::operate::Operating;
use countersign_operators::people::list_people::{ListPeopleError, list_people};
use countersign_operators::people::read_person::{PersonRead, read_person};
use countersign_ports::PeopleFilter;

use super::who::no_user;
use super::{names_of, note_more, show_effect, who};
use crate::cli::{Output, UserCommand};
use crate::commands::make::{effect_of, make, no_group};
use crate::commands::output::people_output;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::{count, is_confirmed, note};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn user(
    command: UserCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: UserCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let management = opened.management();
    match command {
        UserCommand::List { group, blocked, limit, after, output } => {
            let filter = PeopleFilter { group, blocked };
            list(opened, filter, (after, limit), output.output, out).await
        }
        UserCommand::Show { who, client, output } => {
            let user = match client {
                Some(client) => who::known_to(opened, &client, &who.who).await?,
                None => who::user(management, &who).await?,
            };
            let found = found(opened, user).await?.ok_or_else(|| {
                Failure::Failed(format!(
                    "there is no user {user}: if an application knows a person by this id, name the application too, with \
                     --client"
                ))
            })?;
            let names = names_of(opened, [&Subject::User(user)]).await?;
            Ok(people_output::person(&found, &names, output.output, out)?)
        }
        UserCommand::Name { who, name, output } => {
            let user = who::user(management, &who).await?;
            let act = Act::Name { who: Subject::User(user.into()), name: name.name };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
        UserCommand::Block { who, reason, output } => {
            let user = who::user(management, &who).await?;
            let act = Act::Block { who: Subject::User(user.into()), reason: reason.reason };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
        UserCommand::Unblock { who, output } => {
            let user = who::user(management, &who).await?;
            show_effect(
                opened,
                make(opened, Act::Unblock { who: Subject::User(user.into()) }).await?,
                output.output,
                out,
            )
            .await
        }
        UserCommand::SignOut { who, keep_offline, output } => {
            let user = who::user(management, &who).await?;
            let offline = Some(OfflineAccess::kept_if(keep_offline));
            show_effect(
                opened,
                make(opened, Act::SignOut { user: user.into(), offline }).await?,
                output.output,
                out,
            )
            .await
        }
        UserCommand::Delete { who, yes, output } => {
            let user = who::user(management, &who).await?;
            delete(opened, user, yes, output.output, out).await
        }
    }
}

async fn list(
    opened: &Opened<'_>,
    filter: PeopleFilter,
    (after, limit): (Option<UserId>, u32),
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let page = match list_people(opened.management(), filter, after, limit).await {
        Ok(page) => page,
        Err(ListPeopleError::GroupUnknown(name)) => {
            return Err(no_group(opened.management(), &name).await?);
        }
        Err(ListPeopleError::Store(error)) => return Err(store(&error)),
    };
    let who: Vec<Subject> = page.people.iter().map(|person| Subject::User(person.id)).collect();
    let names = names_of(opened, &who).await?;
    people_output::people(&page.people, &names, output, out)?;
    match page.people.last() {
        Some(last) if page.more => note_more(&last.id.to_string()),
        Some(_) | None => Ok(()),
    }
}

async fn found(opened: &Opened<'_>, user: UserId) -> Result<Option<PersonRead>, Failure> {
    read_person(opened.management(), user).await.map_err(|error| store(&error))
}

async fn delete(
    opened: &Opened<'_>,
    user: UserId,
    yes: bool,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let found = found(opened, user).await?.ok_or_else(|| no_user(user))?;
    let question = format!("Delete user {user} for good: {}?", what_goes(&found));
    if !yes && !is_confirmed(&question)? {
        return Err(Failure::Failed("nothing was deleted".to_owned()));
    }
    let key = opened.record_key().map_err(Failure::Failed)?;
    let operating = Operating { record: Some(&key), ..Operating::new(opened.management()) };
    let effect = effect_of(operating, Act::DeleteUser { user: user.into() }).await?;
    show_effect(opened, effect, output, out).await?;
    note(if found.person.listed.block.is_some() {
        "the user was blocked, so their wallets are blocked now"
    } else {
        "who signs in with a wallet of theirs is a new user; `countersign wallet block` keeps a wallet out"
    })
}

/// What is deleted with a user, in words.
fn what_goes(found: &PersonRead) -> String {
    let person = &found.person;
    let number = |length: usize, word| count(u64::try_from(length).unwrap_or(u64::MAX), word);
    format!(
        "{}, {}, {}, what they allowed {}, and their e-mail address",
        number(person.listed.wallets.len(), "wallet"),
        number(person.memberships.len(), "membership"),
        number(person.sessions.len(), "session"),
        number(found.clients.len(), "client"),
    )
}
