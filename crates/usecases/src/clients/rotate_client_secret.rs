//! The operator gives a client a new secret. The old one stops working at once.

use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::id::ClientId;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, StoreError};

use crate::Management;

/// Why the client has no new secret.
#[derive(Debug, thiserror::Error)]
pub enum RotateClientSecretError {
    /// There is no such client.
    #[error("no client has this id")]
    Unknown,
    /// The client has no secret, because it is public or authenticates with keys.
    #[error("the client has no secret: it is public or proves itself with keys")]
    NoSecret,
    /// The client could not be stored.
    #[error("client could not be stored")]
    Store(#[from] StoreError),
}

/// Replaces a client's secret and returns the new one, once.
pub async fn rotate_client_secret(
    management: Management<'_>,
    id: ClientId,
) -> Result<Secret, RotateClientSecretError> {
    let client = management.clients.find_fresh(id).await?.ok_or(RotateClientSecretError::Unknown)?;
    let ClientAuthentication::Secret { method, .. } = client.authentication else {
        return Err(RotateClientSecretError::NoSecret);
    };
    let secret = Secret::from_random(management.entropy.bytes());
    let authentication = ClientAuthentication::Secret { method, hash: SecretHash::of(&secret) };
    let is_there = management.clients.update(Client { authentication, ..client }).await?;
    if is_there { Ok(secret) } else { Err(RotateClientSecretError::Unknown) }
}
