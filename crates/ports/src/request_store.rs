//! Requests that wait for a person: pushed by clients, or made by devices.

use async_trait::async_trait;
use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{ClientId, GrantId, PushedRequestId};
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::StoreError;

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

/// Requests that wait for a person. Every write is durable before the answer.
#[async_trait]
pub trait RequestStore: Send + Sync {
    /// Stores a pushed request. A second request with the same id changes nothing.
    async fn push_request(&self, request: PushedRequest) -> Result<(), StoreError>;

    /// Takes a pushed request: of all callers, one gets its parameters, and then it is gone. Guard: id,
    /// client and secret match, and it has not expired; otherwise it stays. If the answer is lost, so are the
    /// parameters, because nobody can take a request twice.
    async fn take_pushed_request(&self, command: TakePushedRequest) -> Result<Option<String>, StoreError>;

    /// Stores a device's request. Guard: no other request, live or not, has its user code.
    async fn begin_device(&self, command: BeginDevice) -> Result<DeviceBegun, StoreError>;

    /// Reads a device's request by its id.
    async fn find_device(&self, id: GrantId) -> Result<Option<DeviceRequest>, StoreError>;

    /// Reads a device's request by the hash of the code that the device shows.
    async fn find_device_by_user_code(&self, hash: SecretHash) -> Result<Option<DeviceRequest>, StoreError>;

    /// Denies a device's request. Idempotent. Guard: no grant has its id. A signature at the same moment can
    /// still create a grant. The denial wins then, because redemption checks both.
    async fn deny_device(&self, command: DenyDevice) -> Result<DeviceDenied, StoreError>;
}
