//! An operator lists the keys of the admin interface.

use countersign_domain::admin_key::AdminKey;
use countersign_ports::StoreError;

use countersign_usecases::Management;

/// Lists all keys, oldest first, with those that were revoked or have expired.
pub async fn list_admin_keys(management: Management<'_>) -> Result<Vec<AdminKey>, StoreError> {
    management.storage.list_admin_keys().await
}
