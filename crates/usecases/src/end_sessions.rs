//! A signed-in person signs out, here, at one other browser, or everywhere.

use countersign_domain::id::SessionId;

use crate::Context;
use crate::login::{AccountError, Browser, require_login};

/// Which sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichSessions {
    /// That of this browser.
    This,
    /// One of the person's.
    One(SessionId),
    /// All of them.
    All,
}

/// What ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionsEnded {
    /// Is this browser signed out now?
    pub this_one: bool,
}

/// Ends sessions. Tokens that clients hold are theirs, and stay.
pub async fn end_sessions(
    context: &Context,
    browser: &Browser,
    which: WhichSessions,
) -> Result<SessionsEnded, AccountError> {
    let this = require_login(context, browser).await?;
    let this_one = match which {
        WhichSessions::This => {
            context.storage.end_session(this.user, this.id).await?;
            true
        }
        WhichSessions::One(id) => {
            context.storage.end_session(this.user, id).await?;
            id == this.id
        }
        WhichSessions::All => {
            context.storage.end_sessions(this.user).await?;
            true
        }
    };
    tracing::info!(user.id = %this.user, "signed out");
    Ok(SessionsEnded { this_one })
}
