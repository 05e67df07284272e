//! A signed-in person signs out: here, on one other browser, or everywhere.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::SessionId;
use countersign_ports::{EndSession, EndSessions};

use crate::Context;
use crate::context::cause::Cause;
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
    cause: &Cause,
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
    let (user, now) = (this.user, context.clock.now());
    let ended_elsewhere = |which| {
        context.event(now, cause, EventKind::SessionEnded, |event| {
            event.details = Details::default().text("sessions", which);
        })
    };
    match only {
        Some(id) if id == this.id => {
            let event = context.event(now, cause, EventKind::SignOut, |event| {
                event.details = Details::default().flag("revoked", false);
            });
            context.storage.end_session(EndSession { user, id, event }).await?;
        }
        Some(id) => {
            let event = ended_elsewhere("other");
            context.storage.end_session(EndSession { user, id, event }).await?;
        }
        None => {
            let event = ended_elsewhere("all");
            context.storage.end_sessions(EndSessions { user, event }).await?;
        }
    }
    let this_one = only.is_none_or(|only| only == this.id);
    tracing::info!(user.id = %this.user, "signed out");
    Ok(SessionsEnded { this_one, notices })
}
