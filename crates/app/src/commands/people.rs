//! `countersign user|wallet|group|invite|access …`: the operator sees people, and decides who may come in.
//!
//! What is decided is in the use-cases. Here are the texts for people, and the order of what happens.

mod access;
mod farewell;
mod group;
mod invite;
mod operator;
mod user;
mod wallet;
pub(crate) mod who;

use std::io::Write;

use countersign_domain::subject::Subject;
use countersign_operators::operate::Effect;
use countersign_operators::people::names::Names;
use countersign_operators::people::unblock::Unblocked;

pub(crate) use self::access::access;
pub(crate) use self::group::group;
pub(crate) use self::invite::invite;
pub(crate) use self::operator::operator;
pub(crate) use self::user::user;
pub(crate) use self::wallet::wallet;
use crate::cli::Output;
use crate::commands::output::people_output::{self, called};
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::terminal::note;

/// Shows what an act on a user or a wallet did, and notifies clients.
async fn show_effect(
    opened: &Opened<'_>,
    effect: Effect,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Effect::Unblocked(who, unblocked) = &effect {
        let names = names_of(opened, std::iter::once(who).chain(&unblocked.still)).await?;
        return show_unblocked(who, &names, unblocked, output, out);
    }
    if let Effect::Named(who, name, put) = &effect {
        people_output::named_now(who, name.as_ref(), *put, output, out)?;
    }
    if let Effect::Blocked(who, blocked) = &effect {
        let notified = farewell::tell(opened, &blocked.ended.notices).await?;
        let names = names_of(opened, [who]).await?;
        people_output::blocked(who, &names, blocked, &notified, output, out)?;
    }
    if let Effect::SignedOut(user, offline, ended) = &effect {
        let notified = farewell::tell(opened, &ended.notices).await?;
        let names = names_of(opened, [&Subject::User(*user)]).await?;
        people_output::signed_out(*user, &names, *offline, ended, &notified, output, out)?;
    }
    if let Effect::UserDeleted(user, notices) = &effect {
        let notified = farewell::tell(opened, notices).await?;
        people_output::deleted_user(*user, &notified, output, out)?;
    }
    Ok(())
}

/// Says that a user or a wallet is let in again, and what still keeps them out.
fn show_unblocked(
    who: &Subject,
    names: &Names,
    unblocked: &Unblocked,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Unblocked { was_blocked, still } = unblocked;
    let others: Vec<_> = still.iter().map(|other| format!("{} is blocked", called(other, names))).collect();
    if !was_blocked {
        let but = if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) };
        return Err(Failure::Failed(format!("{} is not blocked{but}", called(who, names))));
    }
    people_output::unblocked(who, names, still, output, out)?;
    if !others.is_empty() {
        note(&format!("{} is unblocked, but {}", called(who, names), others.join(", ")))?;
    }
    Ok(())
}

/// Looks up what operators call these.
pub(crate) async fn names_of(
    opened: &Opened<'_>,
    who: impl IntoIterator<Item = &Subject>,
) -> Result<Names, Failure> {
    let storage = opened.management().storage;
    Names::of(storage, who.into_iter().cloned()).await.map_err(|error| store(&error))
}

/// Says how to go on with a list.
pub(crate) fn note_more(last: &str) -> Result<(), Failure> {
    note(&format!("there are more: --after {last} goes on"))
}
