//! An operator decides whom a client lets in, and which of their groups it is told.

use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_ports::{ChangeAccess, StoreError};

use super::read_access::{AccessRead, read_access};
use crate::Management;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessChanged {
    /// As it was before.
    pub before: ClientAccess,
    /// As it is now.
    pub now: AccessRead,
}

/// Why nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeAccessError {
    /// The rule or the release names a group that is not there.
    #[error("there is no group {0}")]
    GroupUnknown(GroupName),
    /// The client was deleted meanwhile.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client could not be changed.
    #[error("client could not be changed")]
    Store(#[from] StoreError),
}

/// Changes the access of a client that was just read. Without a rule, the client follows the setting
/// `default_access`; without a release, that stays as it is. From the answer on, every replica uses the new
/// rule.
pub async fn change_access(
    management: Management<'_>,
    client: Client,
    rule: Option<AccessRule>,
    release: Option<Release>,
) -> Result<AccessChanged, ChangeAccessError> {
    let released = match &release {
        Some(Release::Groups(groups)) => groups.as_slice(),
        Some(Release::OfRule | Release::All) | None => &[],
    };
    for name in rule.iter().flat_map(AccessRule::groups).chain(released) {
        if management.storage.find_group(name).await?.is_none() {
            return Err(ChangeAccessError::GroupUnknown(name.clone()));
        }
    }
    let command = ChangeAccess { client: client.id, rule, release, event: None };
    if !management.clients.change_access(command).await? {
        return Err(ChangeAccessError::ClientUnknown);
    }
    let changed = management.clients.find_fresh(client.id).await?;
    let changed = changed.ok_or(ChangeAccessError::ClientUnknown)?;
    Ok(AccessChanged { before: client.access, now: read_access(management, changed).await? })
}
