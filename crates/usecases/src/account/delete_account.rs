//! A signed-in person deletes their account. A browser that remembers them is not enough: their wallet must have signed lately.

use countersign_ports::DeleteAccount;

use crate::Context;
use crate::steps::login::{AccountError, Browser, require_recent_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// Deletes the account of whoever is signed in at this browser. The answer says who is to be told.
pub async fn delete_account(context: &Context, browser: &Browser) -> Result<Vec<LogoutNotice>, AccountError> {
    let session = require_recent_login(context, browser).await?;
    let now = context.clock.now();
    let told = notices(context, session.user, None).await?;
    context.storage.delete_account(DeleteAccount { user: session.user, now }).await?;
    tracing::info!(user.id = %session.user, "account deleted");
    Ok(told)
}
