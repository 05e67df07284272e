//! An operator creates a key for the admin interface.

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes, key_text};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::AdminKeyId;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{AdminKeyCreated, CreateAdminKey, EntropyExt};
use time::Duration;

use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

/// A new key, with its text, which is shown only this once.
#[derive(Clone, Debug)]
pub struct CreatedAdminKey {
    /// The key.
    pub key: AdminKey,
    /// What a program presents.
    pub text: Secret,
}

/// Creates a key that may do this, for so long if it expires.
pub async fn create_admin_key(
    management: Management<'_>,
    name: AdminKeyName,
    scopes: AdminScopes,
    lives: Option<Duration>,
) -> Result<CreatedAdminKey, ActRefused> {
    if scopes.is_empty() {
        return Err(ActRefused::NoScope);
    }
    let now = management.clock.now();
    let created_at = now.replace_nanosecond(0).unwrap_or(now);
    let id = AdminKeyId::at(now, management.entropy.bytes());
    let text = key_text(id, management.entropy.bytes());
    let key = AdminKey {
        id,
        name,
        scopes,
        hash: SecretHash::of(&text),
        created_at,
        expires_at: lives.map(|lives| created_at.saturating_add(lives)),
        revoked_at: None,
        last_used_at: None,
    };
    let event = management.event(now, EventKind::AdminKeyCreated, |event| {
        event.details = Details::default().text("key", &key.name).text("scopes", &key.scopes);
    });
    match management.storage.create_admin_key(CreateAdminKey { key: key.clone(), event }).await? {
        AdminKeyCreated::Stored => Ok(CreatedAdminKey { key, text }),
        AdminKeyCreated::NameTaken => Err(ActRefused::AdminKeyTaken),
    }
}
