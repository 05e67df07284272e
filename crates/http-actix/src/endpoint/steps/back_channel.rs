//! Notifies clients that a login session ended. This goes on after the answer is sent: no one who signs out
//! waits for another server.

use std::time::Duration;

use actix_web::web::Data;
use countersign_usecases::Context;
use countersign_usecases::steps::notify_logout::{LogoutNotice, notify_logout};
use futures_util::{StreamExt, stream};

use crate::state::AppState;

/// How many clients are notified at the same time.
const AT_ONCE: usize = 4;

/// How long to wait before each try.
const TRIES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(2), Duration::from_secs(20)];

/// Notifies these clients in the background. A client that cannot be reached is tried again, and then given
/// up.
pub fn tell(state: &Data<AppState>, notices: Vec<LogoutNotice>) {
    if notices.is_empty() {
        return;
    }
    let context = state.context.clone();
    actix_web::rt::spawn(async move {
        let each = stream::iter(notices);
        each.for_each_concurrent(AT_ONCE, |notice| tell_one(&context, notice)).await;
    });
}

async fn tell_one(context: &Context, notice: LogoutNotice) {
    for pause in TRIES {
        tokio::time::sleep(pause).await;
        match notify_logout(context.notifier(), notice).await {
            Ok(()) => return,
            Err(error) => {
                let cause = &error as &dyn std::error::Error;
                tracing::warn!(error = cause, client.id = %notice.client, "client could not be notified of a \
                                                                           sign-out");
            }
        }
    }
}
