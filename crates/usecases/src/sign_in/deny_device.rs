//! A person presses Deny for a device: one guarded write. The device learns of it when it asks.

use countersign_domain::device::DEVICE_DONE;
use countersign_domain::id::GrantId;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_ports::{DenyDevice, DeviceDenied, StoreError};

use crate::Context;
use crate::steps::answer::ClientAnswer;

/// Denies a device. The answer is where the person goes. If a person has signed before, this changes nothing.
pub async fn deny_device(context: &Context, id: GrantId) -> Result<ClientAnswer, StoreError> {
    let now = context.clock.now();
    let done = context.policy.public_url.join(DEVICE_DONE);
    let page = |address| ClientAnswer::page(RedirectUri::from_trusted(address));
    Ok(page(match context.storage.deny_device(DenyDevice { id, now }).await? {
        DeviceDenied::Answered => done,
        DeviceDenied::Denied | DeviceDenied::Unknown => format!("{done}?done=denied"),
    }))
}
