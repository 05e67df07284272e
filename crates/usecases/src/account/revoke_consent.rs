//! A signed-in person takes a client's access away: their consent, and every token.

use countersign_domain::id::ClientId;
use countersign_ports::RevokeConsent;

use crate::Context;
use crate::steps::login::{AccountError, Browser, require_login};

/// Revokes a consent. The answer says whether there was one.
pub async fn revoke_consent(
    context: &Context,
    browser: &Browser,
    client: ClientId,
) -> Result<bool, AccountError> {
    let user = require_login(context, browser).await?.user;
    let now = context.clock.now();
    let was_there = context.storage.revoke_consent(RevokeConsent { user, client, now, event: None }).await?;
    tracing::info!(user.id = %user, client.id = %client, "consent revoked");
    Ok(was_there)
}
