//! A signed-in person deletes their account. It is not enough that the browser remembers them: their wallet
//! must have signed recently.

use countersign_domain::event::EventKind;
use countersign_ports::{DeleteAccount, ForgetEventsOf};

use crate::Context;
use crate::context::cause::Cause;
use crate::steps::hide_person::{hide_person, hide_the_rest};
use crate::steps::login::{AccountError, Browser, require_recent_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// Deletes the account of the user who is signed in on this browser. The answer says which clients to tell.
pub async fn delete_account(
    context: &Context,
    cause: &Cause,
    browser: &Browser,
) -> Result<Vec<LogoutNotice>, AccountError> {
    let session = require_recent_login(context, browser).await?;
    let now = context.clock.now();
    let to_notify = notices(&*context.storage, session.user, None).await?;
    let event = context.event(now, cause, EventKind::AccountDeleted, |_| {});
    let (pseudonym, hiding, event) = hide_person(&*context.entropy, &context.keys.record, event);
    let rest = ForgetEventsOf { user: session.user, pseudonym, hiding: hiding.clone() };
    let command = DeleteAccount { user: session.user, now, pseudonym, hiding, event };
    context.storage.delete_account(command).await?;
    hide_the_rest(&*context.storage, rest).await;
    tracing::info!(user.id = %session.user, "account deleted");
    Ok(to_notify)
}
