//! A signed-in person deletes their account. It is not enough that the browser remembers them: their wallet
//! must have signed recently.

use countersign_domain::event::Pseudonym;
use countersign_ports::{DeleteAccount, EntropyExt};

use crate::Context;
use crate::steps::login::{AccountError, Browser, require_recent_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// Deletes the account of the user who is signed in on this browser. The answer says which clients to tell.
pub async fn delete_account(context: &Context, browser: &Browser) -> Result<Vec<LogoutNotice>, AccountError> {
    let session = require_recent_login(context, browser).await?;
    let now = context.clock.now();
    let told = notices(&*context.storage, session.user, None).await?;
    context
        .storage
        .delete_account(DeleteAccount {
            user: session.user,
            now,
            pseudonym: Pseudonym::new(context.entropy.bytes()),
            event: None,
        })
        .await?;
    tracing::info!(user.id = %session.user, "account deleted");
    Ok(told)
}
