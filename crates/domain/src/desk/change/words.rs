//! The words of each change, as its operator reads them before signing.

use std::fmt::Write as _;

use super::{Change, NamedClient, NamedUser, ResourceWords, UsedBy, Whom};
use crate::admission::Release;
use crate::challenge::in_words;
use crate::desk::fields::{plain, quoted};
use crate::registration::RequestedMetadata;
use crate::resource::OpenTo;

impl Change {
    /// What the operator agrees to, as sentences, in the characters of a statement (ERC-4361). What people wrote
    /// stands in quotes.
    pub fn statement(&self) -> String {
        match self {
            Self::Block { who, reason } => match reason {
                Some(reason) => format!("Keep {} out. Reason: {}.", whom(who), quoted(reason)),
                None => format!("Keep {} out.", whom(who)),
            },
            Self::Unblock { who } => format!("Let {} in again.", whom(who)),
            Self::SignOut { user } => format!("Sign {} out everywhere.", named(user)),
            Self::DeleteUser { user } => format!("Delete {} with everything that is theirs.", named(user)),
            Self::CreateGroup { group, title: None } => format!("Create the group {group}."),
            Self::CreateGroup { group, title: Some(title) } => {
                format!("Create the group {group} with the title {}.", quoted(title.as_str()))
            }
            Self::RetitleGroup { group, title: None } => {
                format!("Take its title away from the group {group}.")
            }
            Self::RetitleGroup { group, title: Some(title) } => {
                format!("Give the group {group} the title {}.", quoted(title.as_str()))
            }
            Self::DeleteGroup { group, used_by } => {
                let used_by = use_of("It is", used_by);
                format!("Delete the group {group}. Nobody comes in by it any more.{used_by}")
            }
            Self::AddMember { group, member } => format!("Put {} into the group {group}.", whom(member)),
            Self::RemoveMember { group, member } => {
                format!("Take {} out of the group {group}.", whom(member))
            }
            Self::RegisterClient { id, metadata, resources } => {
                let id = id.map(|id| format!(" with the ID {id}")).unwrap_or_default();
                let opened = uris(" These resources are open to it:", resources);
                format!("Register a client{id}.{}{opened}", of_metadata(metadata))
            }
            Self::ChangeClient { client, metadata } => {
                format!(
                    "Replace what the client {} registered.{}",
                    application(client),
                    of_metadata(metadata)
                )
            }
            Self::DeleteClient { client } => {
                format!("Delete the client {} with all its tokens.", application(client))
            }
            Self::RotateSecret { client, keep_old } => {
                let old = match keep_old.as_seconds() {
                    0 => "The old one ends at once.".to_owned(),
                    seconds => format!("The old one works for {seconds} more seconds."),
                };
                format!("Give the client {} a new secret. {old}", application(client))
            }
            Self::OpenResources { client, resources } => {
                format!("Open resources to the client {}:{}", application(client), uris("", resources))
            }
            Self::CloseResources { client, resources } => {
                format!("Close resources to the client {}:{}", application(client), uris("", resources))
            }
            Self::SetAccess { client, rule, release } => {
                let rule = match rule {
                    Some(rule) => rule.to_string(),
                    None => "whomever the setting default_access lets in".to_owned(),
                };
                let told = match release {
                    None => String::new(),
                    Some(Release::OfRule) => " It is told the groups of its rule.".to_owned(),
                    Some(Release::All) => " It is told all groups of a person.".to_owned(),
                    Some(groups @ Release::Groups(_)) => format!(" It is told these groups: {groups}."),
                };
                format!("Let the client {} admit {rule}.{told}", application(client))
            }
            Self::CreateResource { resource } => format!("Declare the resource {}", resource_words(resource)),
            Self::UpdateResource { resource, used_by } => {
                let used_by = use_of("What it loses is", used_by);
                format!("From now on, declare the resource {}{used_by}", resource_words(resource))
            }
            Self::DeleteResource { uri, used_by } => {
                format!("Delete the resource {} with its scopes.{}", plain(uri), use_of("It is", used_by))
            }
            Self::RotateKeys { at_once, algorithms } => {
                let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
                let when = if *at_once {
                    "They sign at once, and the old ones are withdrawn"
                } else {
                    "They sign when everyone can know them"
                };
                format!("Make new signing keys for {}. {when}.", names.join(", "))
            }
            Self::WithdrawKey { kid } => {
                format!("Withdraw the signing key {} for good. What it signed becomes invalid.", quoted(kid))
            }
            Self::CreateAdminKey { name, scopes, lives } => {
                let lives =
                    lives.map(|seconds| format!(" It ends in {seconds} seconds.")).unwrap_or_default();
                format!("Create the admin key {name} with the scopes {scopes}.{lives}")
            }
            Self::RevokeAdminKey { name } => format!("Revoke the admin key {name}."),
            Self::WithdrawProposal { proposal } => format!("Take back the proposal {proposal}."),
        }
    }
}

fn whom(who: &Whom) -> String {
    match who {
        Whom::User(user) => named(user),
        Whom::Wallet(wallet) => plain(&in_words(wallet)),
    }
}

fn named(user: &NamedUser) -> String {
    match &user.wallet {
        Some(wallet) => format!("user {}, who has the {},", user.id, plain(&in_words(wallet))),
        None => format!("user {}", user.id),
    }
}

fn application(client: &NamedClient) -> String {
    match &client.name {
        Some(name) => format!("{} ({})", quoted(name), client.id),
        None => client.id.to_string(),
    }
}

fn uris(before: &str, uris: &[String]) -> String {
    if uris.is_empty() {
        return String::new();
    }
    let uris: Vec<_> = uris.iter().map(|uri| plain(uri)).collect();
    format!("{before} {}.", uris.join(", "))
}

/// By whom something is used, as a sentence of its own.
fn use_of(what: &str, used_by: &UsedBy) -> String {
    let names: Vec<_> = used_by.names.iter().map(|name| quoted(name)).collect();
    let are_all = u64::try_from(names.len()) == Ok(used_by.clients);
    let others = if are_all { "" } else { " and others" };
    match used_by.clients {
        0 => String::new(),
        1 => format!(" {what} used by 1 client: {}{others}.", names.join(", ")),
        clients => format!(" {what} used by {clients} clients: {}{others}.", names.join(", ")),
    }
}

/// The part of a registration that people should know. The lines say all of it.
fn of_metadata(metadata: &RequestedMetadata) -> String {
    let mut words = String::new();
    // Writing to a `String` cannot fail.
    if let Some(name) = &metadata.client_name {
        let _ = write!(words, " Its name: {}.", quoted(name));
    }
    words += &uris(" It sends people to", metadata.redirect_uris.as_deref().unwrap_or_default());
    let listed = metadata.scopes.iter().flatten().map(String::as_str);
    let scopes: Vec<_> = listed.chain(metadata.scope.as_deref()).collect();
    if !scopes.is_empty() {
        let _ = write!(words, " It may ask for {}.", quoted(&scopes.join(" ")));
    }
    words
}

fn resource_words(resource: &ResourceWords) -> String {
    let open = match resource.open_to {
        OpenTo::Everyone => "every client can name it",
        OpenTo::Named => "only clients that it is opened to can name it",
    };
    let mut words = format!("{}: {open}.", plain(&resource.uri));
    for scope in &resource.scopes {
        let _ = write!(words, " Scope {}: {}", scope.name, quoted(scope.title.as_str()));
        if let Some(group) = &scope.needs {
            let _ = write!(words, ", for the group {group}");
        }
        words.push('.');
    }
    words
}
