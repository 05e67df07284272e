//! Requests that wait for a person: pushed by clients, or made by devices.

use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{ClientId, GrantId, PushedRequestId};
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

/// Takes a pushed request out of the store, so that it can be answered.
#[derive(Clone, Copy, Debug)]
pub struct TakePushedRequest {
    /// The request's id.
    pub id: PushedRequestId,
    /// The client that must have pushed it.
    pub client: ClientId,
    /// The hash of the secret that was presented.
    pub secret_hash: SecretHash,
    /// The caller's time, which decides whether the request has expired.
    pub now: OffsetDateTime,
}

/// Stores a device's request, which then waits for a person.
#[derive(Clone, Debug)]
pub struct BeginDevice {
    /// The request, not denied.
    pub request: DeviceRequest,
    /// When the row can be forgotten.
    pub forget_after: OffsetDateTime,
}

/// The outcome of [`BeginDevice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceBegun {
    /// The request is stored. A repeat of the same command gives this too.
    Stored,
    /// Another device shows this user code. Nothing changed.
    UserCodeTaken,
}

/// Denies a device's request.
#[derive(Clone, Copy, Debug)]
pub struct DenyDevice {
    /// The request's id.
    pub id: GrantId,
    /// The time of the denial.
    pub now: OffsetDateTime,
}

/// The outcome of [`DenyDevice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceDenied {
    /// The request is denied, now or before.
    Denied,
    /// A grant has the request's id: someone signed before. Nothing changed.
    Answered,
    /// There is no such request.
    Unknown,
}
