//! An operator lists groups.

use countersign_ports::{CountedGroup, StoreError};

use super::PAGE;
use crate::Management;

/// Lists all groups, by name.
pub async fn list_groups(management: Management<'_>) -> Result<Vec<CountedGroup>, StoreError> {
    let mut listed: Vec<CountedGroup> = Vec::new();
    loop {
        let after = listed.last().map(|counted| &counted.group.name);
        let page = management.storage.list_groups(after, PAGE).await?;
        if page.is_empty() {
            return Ok(listed);
        }
        listed.extend(page);
    }
}
