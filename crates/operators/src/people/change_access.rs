//! An operator decides who can sign in to a client, and which of their groups it gets.

use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::client::Client;
use countersign_domain::event::{Details, EventKind};
use countersign_ports::ChangeAccess;
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

use super::read_access::{AccessRead, read_access};

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessChanged {
    /// As it was before.
    pub before: ClientAccess,
    /// As it is now.
    pub now: AccessRead,
}

/// Changes the access of a client that was just read. Without a rule, the client follows the setting
/// `default_access`; without a release, that stays as it is. From the answer on, every replica uses the new
/// rule.
pub async fn change_access(
    management: Management<'_>,
    client: Client,
    rule: Option<AccessRule>,
    release: Option<Release>,
) -> Result<AccessChanged, ActRefused> {
    let released = match &release {
        Some(Release::Groups(groups)) => groups.as_slice(),
        Some(Release::OfRule | Release::All) | None => &[],
    };
    for name in rule.iter().flat_map(AccessRule::groups).chain(released) {
        if management.storage.find_group(name).await?.is_none() {
            return Err(ActRefused::NamedGroupUnknown(name.clone()));
        }
    }
    let event = management.event(management.clock.now(), EventKind::AccessChanged, |event| {
        event.client = Some(client.id);
        let details = match &rule {
            Some(rule) => Details::default().text("rule", rule),
            None => Details::default().text("rule", "default"),
        };
        event.details = match &release {
            Some(Release::OfRule) => details.text("release", "rule"),
            Some(release) => details.text("release", release),
            None => details,
        };
    });
    let command = ChangeAccess { client: client.id, rule, release, event };
    if !management.clients.change_access(command).await? {
        return Err(ActRefused::ClientUnknown(client.id));
    }
    let changed = management.clients.find_fresh(client.id).await?;
    let changed = changed.ok_or(ActRefused::ClientUnknown(client.id))?;
    Ok(AccessChanged { before: client.access, now: read_access(management, changed).await? })
}
