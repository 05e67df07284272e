//! The words of each change, as its operator reads them before signing.

use std::fmt::Write as _;

use super::fields::{plain, quoted};
use super::{Act, NamedClient, NamedSubject, NamedUser, OfflineAccess, ResourceWords, UsedBy};
use crate::admission::Release;
use crate::challenge::in_words;
use crate::client_change::FieldChange;
use crate::registration::RequestedMetadata;
use crate::resource::OpenTo;
use crate::subject::Subject;

impl Act {
    /// What the operator agrees to, as sentences, in the characters of a statement (ERC-4361). What people
    /// wrote is in quotes.
    pub fn statement(&self) -> String {
        match self {
            Self::Block { who, reason } => match reason {
                Some(reason) => format!("Keep {} out. Reason: {}.", called(who), quoted(reason)),
                None => format!("Keep {} out.", called(who)),
            },
            Self::Unblock { who } => format!("Let {} in again.", called(who)),
            Self::SignOut { user, offline } => {
                let offline = match offline {
                    None => "",
                    Some(OfflineAccess::Ended) => " Offline access ends too.",
                    Some(OfflineAccess::Kept) => " Offline access is kept.",
                };
                format!("Sign {} out everywhere.{offline}", named(user))
            }
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
            Self::DeleteGroup { group, used_by, needed_by } => {
                let used_by = use_of("It is", used_by);
                let scopes: Vec<_> = needed_by.iter().map(|scope| plain(scope.as_str())).collect();
                let needed_by = if scopes.is_empty() {
                    String::new()
                } else {
                    format!(" No one gets the scopes that need it: {}.", scopes.join(", "))
                };
                format!("Delete the group {group}. It no longer admits anyone.{used_by}{needed_by}")
            }
            Self::AddMember { group, member } => format!("Put {} into the group {group}.", called(member)),
            Self::RemoveMember { group, member } => {
                format!("Take {} out of the group {group}.", called(member))
            }
            Self::RegisterClient { id, metadata, resources, fields } => {
                let id = id.map(|id| format!(" with the ID {id}")).unwrap_or_default();
                let opened = uris(" These resources are open to it:", resources);
                let said = match fields.as_slice() {
                    [] => of_metadata(metadata),
                    fields => fields.iter().map(|field| of_field(field, Side::Registered)).collect(),
                };
                format!("Register a client{id}.{said}{opened}")
            }
            Self::ChangeClient { client, metadata, fields } => match fields.as_slice() {
                [] => {
                    let client = application(client);
                    format!("Replace what the client {client} registered.{}", of_metadata(metadata))
                }
                fields => {
                    let said: String = fields.iter().map(|field| of_field(field, Side::Changed)).collect();
                    format!("Change what the client {} registered.{said}", application(client))
                }
            },
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
                let released = match release {
                    None => String::new(),
                    Some(Release::OfRule) => " It gets the groups of its rule.".to_owned(),
                    Some(Release::All) => " It gets all groups of a person.".to_owned(),
                    Some(groups @ Release::Groups(_)) => format!(" It gets these groups: {groups}."),
                };
                format!("Let the client {} admit {rule}.{released}", application(client))
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

fn called(who: &NamedSubject) -> String {
    match who {
        Subject::User(user) => named(user),
        Subject::Wallet(wallet) => plain(&in_words(wallet)),
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

/// Who uses something, as a sentence of its own.
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

/// Does a field get its first value, or another one?
#[derive(Clone, Copy)]
enum Side {
    Registered,
    Changed,
}

/// What becomes of a field, before and after, as sentences of their own.
fn of_field(change: &FieldChange, side: Side) -> String {
    let FieldChange { field, gone, new } = change;
    let label = field.label();
    let listed = |values: &[String]| values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ");
    let (before, after) = (listed(gone), listed(new));
    match (side, gone.as_slice(), new.as_slice()) {
        (Side::Registered, _, _) => format!(" {label}: {after}."),
        (Side::Changed, [], []) => format!(" {label}: the same as before, in another order."),
        (Side::Changed, [], _) => format!(" {label}: new is {after}."),
        (Side::Changed, _, []) => format!(" {label}: no longer {before}."),
        (Side::Changed, _, _) => format!(" {label}: no longer {before}, but {after}."),
    }
}

/// The words of releases that named only these fields. They stay, because signatures are verified years later.
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
    let mut words = plain(&resource.uri);
    if let Some(name) = &resource.name {
        let _ = write!(words, ", called {}", quoted(name.as_str()));
    }
    let _ = write!(words, ": {open}.");
    for scope in &resource.scopes {
        let _ = write!(words, " Scope {}: {}", scope.name, quoted(scope.title.as_str()));
        if let Some(group) = &scope.needs {
            let _ = write!(words, ", for the group {group}");
        }
        words.push('.');
    }
    words
}
