//! A signed-in person deletes their account. A browser that remembers them is not enough: their wallet must have signed lately.

use countersign_ports::DeleteAccount;

use crate::Context;
use crate::login::{AccountError, Browser, require_login};
use crate::read_account::is_recent;

/// Deletes the account of whoever is signed in at this browser.
pub async fn delete_account(context: &Context, browser: &Browser) -> Result<(), AccountError> {
    let session = require_login(context, browser).await?;
    let now = context.clock.now();
    if !is_recent(&session, now) {
        return Err(AccountError::SignedInLongAgo);
    }
    context.storage.delete_account(DeleteAccount { user: session.user, now }).await?;
    tracing::info!(user.id = %session.user, "account deleted");
    Ok(())
}
