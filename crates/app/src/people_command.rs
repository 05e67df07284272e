//! `countersign user|wallet|group|access …`: the operator sees people, and decides who may come in.
//!
//! What is decided is in the use-cases. Here are the texts for people, and the order of what happens.

mod access;
mod farewell;
mod group;
mod user;
mod wallet;
pub(crate) mod who;

use std::io::Write;

use countersign_usecases::people::Who;
use countersign_usecases::people::block::{BlockError, block};
use countersign_usecases::people::unblock::{UnblockError, Unblocked, unblock};

pub(crate) use self::access::access;
pub(crate) use self::group::group;
pub(crate) use self::user::user;
pub(crate) use self::wallet::wallet;
use crate::change_log::{self, WhoChange};
use crate::cli::Output;
use crate::client_command::store;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::people_output::{self, called};
use crate::terminal::note;

/// Blocks a user or a wallet, and tells clients.
async fn block_somebody(
    opened: &Opened<'_>,
    who: Who,
    reason: Option<String>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let blocked = block(opened.management(), who.clone(), reason).await;
    let blocked = blocked.map_err(|error| match error {
        BlockError::UserUnknown => Failure::Failed(format!("there is no {}", called(&who))),
        BlockError::Store(error) => store(&error),
    })?;
    change_log::who(&who, WhoChange::Blocked);
    let told = farewell::tell(opened, &blocked.ended.notices).await?;
    Ok(people_output::blocked(&who, &blocked, &told, output, out)?)
}

/// Lets a user or a wallet in again, and says what still keeps them out.
async fn unblock_somebody(
    opened: &Opened<'_>,
    who: Who,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unblocked = unblock(opened.management(), who.clone()).await;
    let Unblocked { was_blocked, still } = unblocked.map_err(|error| match error {
        UnblockError::UserUnknown => Failure::Failed(format!("there is no {}", called(&who))),
        UnblockError::Store(error) => store(&error),
    })?;
    let others: Vec<_> = still.iter().map(|other| format!("{} is blocked", called(other))).collect();
    if !was_blocked {
        let but = if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) };
        return Err(Failure::Failed(format!("{} is not blocked{but}", called(&who))));
    }
    change_log::who(&who, WhoChange::Unblocked);
    people_output::unblocked(&who, &still, output, out)?;
    if !others.is_empty() {
        note(&format!("{} is unblocked, but {}", called(&who), others.join(", ")))?;
    }
    Ok(())
}

/// Says how to go on with a list.
pub(crate) fn note_more(last: &str) -> Result<(), Failure> {
    note(&format!("there are more: --after {last} goes on"))
}
