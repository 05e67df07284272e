//! A person types the code that a device shows: what waits for their answer.

use countersign_domain::device::{DeviceRequest, UserCode};
use countersign_domain::pending::PendingAuthorization;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::Context;

/// Finds what waits under a code, as a request that a page can ask about. Unknown, expired, answered and denied are one
/// answer: nothing waits.
pub async fn find_device(context: &Context, typed: &str) -> Result<Option<PendingAuthorization>, StoreError> {
    let now = context.clock.now();
    let Some(code) = UserCode::parse(typed) else { return Ok(None) };
    let found = context.storage.find_device_by_user_code(code.hash()).await?;
    let Some(device) = found.filter(|device| device.waits(now)) else { return Ok(None) };
    if context.storage.find_grant(device.id).await?.is_some() {
        return Ok(None);
    }
    let client = context.find_client(device.client).await?;
    let public_url = &context.policy.public_url;
    Ok(client.map(|client| PendingAuthorization::for_device(&device, &code, &client, public_url)))
}

/// For whom a request is answered.
pub(crate) enum Answered {
    /// The browser that asks; it takes a code to the client.
    Browser,
    /// A device, which has its code already.
    Device(DeviceRequest),
    /// A device that waits no more.
    Nobody,
}

/// Finds for whom a request would be answered now.
pub(crate) async fn answered_for(
    context: &Context,
    now: OffsetDateTime,
    pending: &PendingAuthorization,
) -> Result<Answered, StoreError> {
    let Some(id) = pending.device else { return Ok(Answered::Browser) };
    let found = context.storage.find_device(id).await?;
    Ok(found.filter(|device| device.waits(now)).map_or(Answered::Nobody, Answered::Device))
}
