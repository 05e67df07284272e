//! An operator revokes a key of the admin interface.

use countersign_domain::admin_key::AdminKey;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::AdminKeyId;
use countersign_ports::RevokeAdminKey;

use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

/// Finds the key with this name or this id.
pub async fn find_admin_key(management: Management<'_>, named: &str) -> Result<AdminKey, ActRefused> {
    let found = match AdminKeyId::parse(&named.to_ascii_lowercase()) {
        Some(id) => management.storage.find_admin_key(id).await?,
        None => {
            let mut keys = management.storage.list_admin_keys().await?.into_iter();
            keys.rfind(|key| key.name.as_str() == named)
        }
    };
    found.ok_or_else(|| ActRefused::AdminKeyUnknown(named.to_owned()))
}

/// Revokes the key with this name or this id. The next request with it is refused, at every replica.
pub async fn revoke_admin_key(management: Management<'_>, named: &str) -> Result<AdminKey, ActRefused> {
    let key = find_admin_key(management, named).await?;
    let now = management.clock.now();
    let event = management.event(now, EventKind::AdminKeyRevoked, |event| {
        event.details = Details::default().text("key", &key.name);
    });
    if !management.storage.revoke_admin_key(RevokeAdminKey { id: key.id, now, event }).await? {
        return Err(ActRefused::AdminKeyRevoked);
    }
    Ok(AdminKey { revoked_at: Some(now), ..key })
}
