//! A signed-in person signs out: here, on one other browser, or everywhere.

use countersign_domain::id::SessionId;
use countersign_ports::{EndSession, EndSessions};

use crate::Context;
use crate::steps::login::{AccountError, Browser, require_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// Which sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichSessions {
    /// This browser's session.
    This,
    /// One of the person's sessions.
    One(SessionId),
    /// All of the person's sessions.
    All,
}

/// What ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsEnded {
    /// Is this browser signed out now?
    pub this_one: bool,
    /// The clients to tell.
    pub notices: Vec<LogoutNotice>,
}

/// Ends sessions. The tokens that clients hold stay valid.
pub async fn end_sessions(
    context: &Context,
    browser: &Browser,
    which: WhichSessions,
) -> Result<SessionsEnded, AccountError> {
    let this = require_login(context, browser).await?;
    let only = match which {
        WhichSessions::This => Some(this.id),
        WhichSessions::One(id) => Some(id),
        WhichSessions::All => None,
    };
    let notices = notices(&*context.storage, this.user, only).await?;
    match only {
        Some(id) => {
            context.storage.end_session(EndSession { user: this.user, id, event: None }).await?;
        }
        None => {
            context.storage.end_sessions(EndSessions { user: this.user, event: None }).await?;
        }
    }
    let this_one = only.is_none_or(|only| only == this.id);
    tracing::info!(user.id = %this.user, "signed out");
    Ok(SessionsEnded { this_one, notices })
}
