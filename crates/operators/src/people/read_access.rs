//! An operator looks up who can sign in to a client.

use countersign_domain::admission::AccessRule;
use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_ports::{CountedGroup, StoreError};

use countersign_usecases::Management;

/// Who can sign in to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRead {
    /// The client.
    pub client: Client,
    /// The rule that counts: the client's own, or else that of the setting `default_access`.
    pub rule: AccessRule,
    /// The groups that the rule names; `None` beside the name of a group that is not there.
    pub groups: Vec<(GroupName, Option<CountedGroup>)>,
}

impl AccessRead {
    /// Does the rule let anybody in, as its groups are now?
    pub fn lets_somebody_in(&self) -> bool {
        match &self.rule {
            AccessRule::Everyone => true,
            AccessRule::Nobody => false,
            AccessRule::Groups(_) => {
                let mut counted = self.groups.iter().filter_map(|(_, counted)| counted.as_ref());
                counted.any(|counted| counted.users > 0 || counted.wallets > 0)
            }
        }
    }
}

/// Reads who can sign in to this client.
pub async fn read_access(management: Management<'_>, client: Client) -> Result<AccessRead, StoreError> {
    let rule = client.access.rule_or(&management.policy.default_access).clone();
    let mut groups = Vec::with_capacity(rule.groups().len());
    for name in rule.groups() {
        groups.push((name.clone(), management.storage.find_group(name).await?));
    }
    Ok(AccessRead { client, rule, groups })
}
