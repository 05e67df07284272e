//! Reads what is there, for a file that declares all of it.
//!
//! Secrets are not among it. What could not be declared in an empty database is left out: names of deleted
//! resources and of their scopes. A rule that names a deleted group admits no one through it; to keep it so,
//! the group is among the others, without members.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::resource::{Resource, ResourceRules};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{NamedPerson, StoreError};
use countersign_usecases::Management;
use countersign_usecases::clients::register_client::owners;

use super::read_state::{all_members, each_client};
use crate::people::list_groups::list_groups;
use crate::people::names::all_named;

/// What is there.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// The clients, by name and then by id.
    pub clients: Vec<ExportedClient>,
    /// The groups, by name.
    pub groups: Vec<ExportedGroup>,
    /// The resources, by URI.
    pub resources: Vec<Resource>,
    /// The users and wallets that have a name of their own. Other databases do not know the users.
    pub people: Vec<NamedPerson>,
    /// The groups that something names although they were deleted. They are among the groups.
    pub deleted_groups: Vec<GroupName>,
    /// How many clients are not the operator's, and were left out.
    pub others: usize,
}

/// A client as a file can declare it.
#[derive(Clone, Debug)]
pub struct ExportedClient {
    /// The client.
    pub client: Client,
    /// Are the resources of its scopes open to it, and no others? Then a file need not name them.
    pub has_usual_resources: bool,
}

/// A group with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedGroup {
    /// Its name.
    pub name: GroupName,
    /// What operators call it.
    pub title: Option<GroupTitle>,
    /// The users in it, by id. Other databases do not know them.
    pub users: Vec<UserId>,
    /// The wallets in it, by family and address.
    pub wallets: Vec<WalletAccount>,
}

/// Reads all that a file can declare.
pub async fn export(management: Management<'_>) -> Result<Exported, StoreError> {
    let rules = management.resource_rules().await?;
    let mut exported = Exported::default();
    each_client(management, |client| match client.origin {
        ClientOrigin::Operator => exported.clients.push(exported_client(client, &rules)),
        ClientOrigin::SelfRegistered | ClientOrigin::Document => exported.others += 1,
    })
    .await?;
    exported.clients.sort_by(|one, other| {
        let key = |of: &ExportedClient| (of.client.metadata.name.clone(), of.client.id);
        key(one).cmp(&key(other))
    });
    let mut groups = BTreeMap::new();
    for counted in list_groups(management).await? {
        let Group { name, title, created_at: _ } = counted.group;
        let members = all_members(management, &name).await?;
        groups.insert(name.clone(), group(name, title, members));
    }
    exported.people = all_named(management.storage).await?;
    exported.resources = rules.catalog().resources().to_vec();
    for name in named(&exported).into_iter().filter(|name| !groups.contains_key(name)).collect::<Vec<_>>() {
        groups.insert(name.clone(), group(name.clone(), None, Vec::new()));
        exported.deleted_groups.push(name);
    }
    exported.groups = groups.into_values().collect();
    Ok(exported)
}

fn group(name: GroupName, title: Option<GroupTitle>, members: Vec<Subject>) -> ExportedGroup {
    let mut group = ExportedGroup { name, title, users: Vec::new(), wallets: Vec::new() };
    for member in members {
        match member {
            Subject::User(user) => group.users.push(user),
            Subject::Wallet(account) => group.wallets.push(account),
        }
    }
    group
}

fn exported_client(mut client: Client, rules: &ResourceRules) -> ExportedClient {
    let catalog = rules.catalog();
    let scopes = client.metadata.scopes.only_own(|name| catalog.owner(name.as_str()).is_some());
    client.metadata.scopes = scopes;
    client.resources.retain(|uri| rules.may_be_opened(uri) == Ok(true));
    client.resources.sort();
    let has_usual_resources = client.resources == owners(catalog, &client.metadata.scopes);
    ExportedClient { client, has_usual_resources }
}

/// All groups that rules, releases and scopes name.
fn named(exported: &Exported) -> BTreeSet<GroupName> {
    let mut names = BTreeSet::new();
    for ExportedClient { client, .. } in &exported.clients {
        names.extend(client.access.rule.iter().flat_map(AccessRule::groups).cloned());
        match &client.access.release {
            Release::Groups(groups) => names.extend(groups.iter().cloned()),
            Release::OfRule | Release::All => {}
        }
    }
    let scopes = exported.resources.iter().flat_map(|resource| &resource.scopes);
    names.extend(scopes.filter_map(|scope| scope.needs.clone()));
    names
}
