//! What operators decide about, and what a text of the desk changes of it. It follows `docs/desk.md` and the lines of the
//! text, and not the code that reads them.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::admission::{AccessRule, ClientAccess};
use countersign_domain::client::Client;
use countersign_domain::subject::Subject;
use countersign_ports::ClientStore;
use url::form_urlencoded;

use crate::site::{Site, wallet};

/// Groups, clients with whom they let in, and blocked wallets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Governed {
    pub(super) groups: BTreeMap<String, Group>,
    /// By id. A client that a document describes is here only if somebody decided whom it lets in.
    pub(super) clients: BTreeMap<String, Client>,
    /// Addresses.
    pub(super) blocked: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) title: Option<String>,
    /// Addresses of wallets. No user is put into a group.
    pub(super) members: BTreeSet<String>,
}

impl Governed {
    /// Reads it from the store. Blocks are looked for among these wallets.
    pub(super) async fn read(site: &Site, wallets: &[&str]) -> Self {
        let storage = &site.context.storage;
        let mut groups = BTreeMap::new();
        for counted in storage.list_groups(None, 500).await.unwrap() {
            let members = storage.list_members(&counted.group.name, None, 500).await.unwrap();
            let members = members.into_iter().map(|member| match member.member {
                Subject::User(user) => user.to_string(),
                Subject::Wallet(account) => account.address,
            });
            let title = counted.group.title.map(|title| title.as_str().to_owned());
            groups.insert(counted.group.name.to_string(), Group { title, members: members.collect() });
        }
        let clients = site.storage.list_clients(None, 500).await.unwrap().into_iter();
        let is_decided = |client: &Client| client.access != ClientAccess::default();
        let clients = clients.filter(|client| client.document.is_none() || is_decided(client));
        let clients = clients.map(|client| (client.id.to_string(), client)).collect();
        let mut blocked = BTreeSet::new();
        for address in wallets {
            if storage.standing_of(&wallet(address)).await.unwrap().block.is_some() {
                blocked.insert((*address).to_owned());
            }
        }
        Self { groups, clients, blocked }
    }

    /// Does this wallet belong to an operator, if these are operators by the settings and members of this group are, too?
    pub(super) fn is_operator(&self, address: &str, named: &[&str], group: &str) -> bool {
        let is_member = self.groups.get(group).is_some_and(|group| group.members.contains(address));
        !self.blocked.contains(address) && (named.contains(&address) || is_member)
    }
}

/// A change, as the lines of its text say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) name: String,
    with: Vec<(String, String)>,
}

impl Change {
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, list) = text.split_once("\nResources:")?;
        let lines: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        let named: Vec<_> =
            lines.iter().filter_map(|line| line.strip_prefix("urn:countersign:change:")).collect();
        let [name] = named[..] else { return None };
        let with =
            lines.iter().filter_map(|line| line.strip_prefix("urn:countersign:with:")?.split_once(':'));
        let decoded = |value: &str| {
            let pair = format!("v={value}");
            form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
        };
        let with: Option<Vec<_>> =
            with.map(|(name, value)| Some((name.to_owned(), decoded(value)?))).collect();
        Some(Self { name: name.to_owned(), with: with? })
    }

    /// The value of a line. Without the line, nothing.
    pub(super) fn with(&self, name: &str) -> &str {
        let found = self.with.iter().find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The addresses of the wallets that it is about.
    pub(super) fn addresses(&self) -> BTreeSet<&str> {
        let wallets = self.with.iter().filter(|(name, _)| name == "who");
        wallets.filter_map(|(_, wallet)| wallet.rsplit(':').next()).collect()
    }

    /// What is so after this change and nothing else. Of a new client, the text says the id, the name and where it sends
    /// people; the rest is taken from `found`.
    pub(super) fn after(&self, before: &Governed, found: &Governed) -> Option<Governed> {
        let mut after = before.clone();
        let group = self.with("group");
        let mut addresses = self.addresses().into_iter().map(str::to_owned);
        let id = self.with("client");
        match self.name.as_str() {
            "group-create" => {
                let title = Some(self.with("title")).filter(|title| !title.is_empty());
                let (title, members) = (title.map(str::to_owned), addresses.collect());
                let new = Group { title, members };
                after.groups.insert(group.to_owned(), new).is_none().then_some(())?;
            }
            "group-retitle" => {
                let title = Some(self.with("title")).filter(|title| !title.is_empty());
                after.groups.get_mut(group)?.title = title.map(str::to_owned);
            }
            "group-delete" => {
                after.groups.remove(group)?;
            }
            "member-add" => {
                let members = &mut after.groups.get_mut(group)?.members;
                let changed = addresses.filter(|address| members.insert(address.clone())).count();
                (changed > 0).then_some(())?;
            }
            "member-remove" => {
                let members = &mut after.groups.get_mut(group)?.members;
                let changed = addresses.filter(|address| members.remove(address)).count();
                (changed > 0).then_some(())?;
            }
            "wallet-block" => after.blocked.extend(addresses),
            "wallet-unblock" => after.blocked.remove(&addresses.next()?).then_some(())?,
            "client-access" => {
                let rule = Some(self.with("rule")).filter(|rule| *rule != "default");
                after.clients.get_mut(id)?.access.rule = rule.map(AccessRule::parse).transpose().ok()?;
            }
            "client-register" => {
                let client = found.clients.get(id)?;
                let metadata = &client.metadata;
                let uris: Vec<&str> = metadata.redirect_uris.iter().map(|uri| uri.as_str()).collect();
                let is_said =
                    metadata.name == self.with("client_name") && uris == [self.with("redirect_uris")];
                let is_new = after.clients.insert(id.to_owned(), client.clone()).is_none();
                let rule = Some(self.with("rule")).filter(|rule| *rule != "default");
                let rule = rule.map(AccessRule::parse).transpose().ok()?;
                let access = ClientAccess { rule, ..ClientAccess::default() };
                (is_said && is_new && client.access == access).then_some(())?;
            }
            "client-delete" => {
                after.clients.remove(id)?;
            }
            _ => return None,
        }
        Some(after)
    }
}
