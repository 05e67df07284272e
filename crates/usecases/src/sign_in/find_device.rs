//! A person types the code that a device shows: finds the request that waits for their answer.

use countersign_domain::device::UserCode;
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::Context;
use crate::steps::new_grant::Recipient;

/// Finds what waits under a code, as a request that a page can ask about. A code that is unknown, expired,
/// answered or denied gets the same answer: nothing waits.
pub async fn find_device(context: &Context, typed: &str) -> Result<Option<PendingAuthorization>, StoreError> {
    let now = context.clock.now();
    let Some(code) = UserCode::parse(typed) else { return Ok(None) };
    let found = context.storage.find_device_by_user_code(code.hash()).await?;
    let Some(device) = found.filter(|device| device.waits(now)) else { return Ok(None) };
    if context.storage.find_grant(device.id).await?.is_some() {
        return Ok(None);
    }
    let client = context.clients.find(device.client).await?;
    let public_url = &context.policy.public_url;
    Ok(client.map(|client| PendingAuthorization::for_device(&device, code, &client, public_url)))
}

/// What an answer to a request leads to.
pub(crate) enum Answered<'a> {
    /// A session for our account page.
    Session {
        /// Where the browser goes.
        page: &'a RedirectUri,
    },
    Grant(Recipient<'a>),
}

/// Finds what an answer to a request would lead to now; `None` if the device has stopped waiting.
pub(crate) async fn answered_for<'a>(
    context: &Context,
    now: OffsetDateTime,
    pending: &'a PendingAuthorization,
) -> Result<Option<Answered<'a>>, StoreError> {
    let waiting = match &pending.requester {
        Requester::AccountPage { page } => return Ok(Some(Answered::Session { page })),
        Requester::Client(request) => return Ok(Some(Answered::Grant(Recipient::Client(request)))),
        Requester::Device(waiting) => waiting,
    };
    let found = context.storage.find_device(waiting.id).await?;
    let stored = found.filter(|device| device.waits(now));
    Ok(stored.map(|stored| Answered::Grant(Recipient::Device { waiting, stored })))
}
