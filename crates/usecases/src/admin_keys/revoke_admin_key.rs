//! An operator revokes a key of the admin interface.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::AdminKeyId;
use countersign_ports::{RevokeAdminKey, StoreError};

use crate::Management;

/// Why no key was revoked.
#[derive(Debug, thiserror::Error)]
pub enum RevokeAdminKeyError {
    /// No key has this name or this id.
    #[error("no admin key has this name or this id")]
    Unknown,
    /// It was revoked before.
    #[error("the admin key is revoked already")]
    AlreadyRevoked,
    /// The key could not be revoked.
    #[error("admin key could not be revoked")]
    Store(#[from] StoreError),
}

/// Revokes the key with this name or this id. The next request with it is refused, at every replica.
pub async fn revoke_admin_key(
    management: Management<'_>,
    named: &str,
) -> Result<AdminKey, RevokeAdminKeyError> {
    let found = match AdminKeyId::parse(&named.to_ascii_lowercase()) {
        Some(id) => management.storage.find_admin_key(id).await?,
        None => {
            let mut keys = management.storage.list_admin_keys().await?.into_iter();
            keys.rfind(|key| key.name.as_str() == named)
        }
    };
    let key = found.ok_or(RevokeAdminKeyError::Unknown)?;
    let now = management.clock.now();
    let event = management.event(now, EventKind::AdminKeyRevoked, |event| {
        event.details = Details::default().text("key", &key.name);
    });
    if !management.storage.revoke_admin_key(RevokeAdminKey { id: key.id, now, event }).await? {
        return Err(RevokeAdminKeyError::AlreadyRevoked);
    }
    Ok(AdminKey { revoked_at: Some(now), ..key })
}
