//! Requests that wait for a person: those that clients pushed, and those of devices.

use async_trait::async_trait;
use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{ClientId, GrantId, PushedRequestId};
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::StoreError;

/// Takes a pushed request away, to be answered.
#[derive(Clone, Copy, Debug)]
pub struct TakePushedRequest {
    /// Which.
    pub id: PushedRequestId,
    /// Who must have pushed it.
    pub client: ClientId,
    /// The hash of the secret that was presented.
    pub secret_hash: SecretHash,
    /// Now.
    pub now: OffsetDateTime,
}

/// Has a device wait.
#[derive(Clone, Debug)]
pub struct BeginDevice {
    /// The request; it is not denied.
    pub request: DeviceRequest,
    /// When the row may be forgotten.
    pub forget_after: OffsetDateTime,
}

/// What became of [`BeginDevice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceBegun {
    /// The device waits; also when this very command was carried out before.
    Stored,
    /// Another device shows this code. Nothing changed.
    UserCodeTaken,
}

/// Tells a device no.
#[derive(Clone, Copy, Debug)]
pub struct DenyDevice {
    /// Which.
    pub id: GrantId,
    /// Now.
    pub now: OffsetDateTime,
}

/// What became of [`DenyDevice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceDenied {
    /// It was told no, now or before.
    Denied,
    /// A grant has its id: somebody signed before. Nothing changed.
    Answered,
    /// There is no such request.
    Unknown,
}

/// Requests that wait. Every write is durable before the answer.
#[async_trait]
pub trait RequestStore: Send + Sync {
    /// Stores a pushed request. The same id again changes nothing.
    async fn push_request(&self, request: PushedRequest) -> Result<(), StoreError>;

    /// Takes a pushed request: of all who ask, one gets its parameters, and then it is gone. Guard: id, client and secret are
    /// its own, and it has not expired; otherwise it stays. What a lost answer carried is lost: nobody can take it twice.
    async fn take_pushed_request(&self, command: TakePushedRequest) -> Result<Option<String>, StoreError>;

    /// Has a device wait. Guard: no other request has its user code, live or not.
    async fn begin_device(&self, command: BeginDevice) -> Result<DeviceBegun, StoreError>;

    /// Reads a device's request by its id.
    async fn find_device(&self, id: GrantId) -> Result<Option<DeviceRequest>, StoreError>;

    /// Reads a device's request by the hash of the code that the device shows.
    async fn find_device_by_user_code(&self, hash: SecretHash) -> Result<Option<DeviceRequest>, StoreError>;

    /// Denies a device's request. Idempotent. Guard: no grant has its id. A signature at the same moment may still make one; the
    /// denial counts then, because whoever redeems looks at both.
    async fn deny_device(&self, command: DenyDevice) -> Result<DeviceDenied, StoreError>;
}
