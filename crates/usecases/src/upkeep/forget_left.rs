//! The server goes on with deletions that were interrupted before all events of the account had their pseudonym.

use countersign_ports::{ForgetEventsOf, StoreError};

use crate::Context;
use crate::steps::hide_person::hide_the_rest;
use crate::upkeep::purge_expired::BATCH;

/// Takes every user who is left to forget out of their events. A row that this server did not write hides no
/// one.
pub async fn forget_left(context: &Context) -> Result<(), StoreError> {
    for left in context.storage.left_to_forget(BATCH).await? {
        let hiding = context.keys.record.hiding(left.pseudonym);
        if hiding.proof_of_user(left.user) == left.proof {
            let command = ForgetEventsOf { user: left.user, pseudonym: left.pseudonym, hiding };
            hide_the_rest(&*context.storage, command).await;
        } else {
            tracing::error!(user.id = %left.user, "a row of left_to_forget was not written by this server: delete it");
        }
    }
    Ok(())
}
