//! A program presents a key at the admin interface.

use countersign_domain::admin_key::{AdminKey, AdminKeyRefused, id_in};
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;

use countersign_usecases::Management;

/// Why a presented key opens nothing.
#[derive(Debug, thiserror::Error)]
pub enum AdmitAdminKeyError {
    /// It cannot be a key, or no key has its id.
    #[error("the admin key is not known")]
    Unknown,
    /// It is refused.
    #[error("{why}")]
    Refused {
        /// The key that has its id. The caller is its holder only if the rest matches too.
        key: Box<AdminKey>,
        /// Why.
        why: AdminKeyRefused,
    },
    /// The keys could not be read.
    #[error("admin key could not be looked up")]
    Store(#[from] StoreError),
}

/// Finds the key that is presented, if it is good, and writes down that it was used, to the minute. The key is read
/// anew each time: once it is revoked, no replica admits it.
pub async fn admit_admin_key(
    management: Management<'_>,
    presented: &Secret,
) -> Result<AdminKey, AdmitAdminKeyError> {
    let id = id_in(presented).ok_or(AdmitAdminKeyError::Unknown)?;
    let found = management.storage.find_admin_key(id).await?;
    let key = found.ok_or(AdmitAdminKeyError::Unknown)?;
    let now = management.clock.now();
    if let Err(why) = key.judge(now, presented) {
        return Err(AdmitAdminKeyError::Refused { key: Box::new(key), why });
    }
    let minute = now.replace_nanosecond(0).and_then(|now| now.replace_second(0)).unwrap_or(now);
    if key.last_used_at.is_none_or(|used_at| used_at < minute) {
        management.storage.note_admin_key_use(key.id, minute).await?;
    }
    Ok(key)
}
