//! The group of operators, as far as the settings alone do not show it.

use countersign_domain::desk::operators::DeskPolicy;
use countersign_ports::{DirectStorage, StoreError};

/// The warning about an empty group of operators. The settings alone do not show it.
pub(crate) async fn doubt(
    policy: &DeskPolicy,
    storage: &dyn DirectStorage,
) -> Result<Option<String>, StoreError> {
    let Some(group) = &policy.group else { return Ok(None) };
    let found = storage.find_group(group).await?;
    let members = storage.list_members(group, None, 1).await?;
    if !members.is_empty() {
        return Ok(None);
    }
    let state = if found.is_some() { "no one is in the group" } else { "there is no group" };
    let consequence = if policy.admins.is_empty() {
        "no one can use the desk"
    } else {
        "only the wallets in admins can use the desk"
    };
    let create =
        if found.is_some() { String::new() } else { format!("`countersign group create {group}` and ") };
    Ok(Some(format!(
        "admin_group: {state} {group}, so {consequence}; run {create}`countersign group add {group} WHO`, or leave \
         admin_group out"
    )))
}
