//! The parts of a change's words, as its operator reads them before signing.

use std::fmt::Write as _;

use super::fields::{plain, quoted};
use super::{NamedClient, NamedSubject, NamedUser, ResourceWords, UsedBy};
use crate::admission::{AccessRule, Release};
use crate::challenge::in_words;
use crate::client_change::FieldChange;
use crate::person_name::PersonName;
use crate::registration::RequestedMetadata;
use crate::resource::OpenTo;
use crate::subject::Subject;

pub(super) fn called(who: &NamedSubject) -> String {
    match who {
        Subject::User(user) => named(user),
        Subject::Wallet(wallet) => {
            format!("{}{}", plain(&in_words(&wallet.account)), by_name(wallet.name.as_ref()))
        }
    }
}

pub(super) fn named(user: &NamedUser) -> String {
    let name = by_name(user.name.as_ref());
    match &user.wallet {
        Some(wallet) => format!("user {}{name}, who has the {},", user.id, plain(&in_words(wallet))),
        None => format!("user {}{name}", user.id),
    }
}

/// What operators call someone. It is in quotes, so it is never taken for the server's own words.
fn by_name(name: Option<&PersonName>) -> String {
    name.map(|name| format!(" called {}", quoted(name.as_str()))).unwrap_or_default()
}

pub(super) fn listed(members: &[NamedSubject]) -> String {
    members.iter().map(briefly).collect::<Vec<_>>().join(", ")
}

/// A user or a wallet among others. The id of a user is in the lines.
pub(super) fn briefly(who: &NamedSubject) -> String {
    match who {
        Subject::User(NamedUser { wallet: Some(wallet), name, .. }) => {
            format!("the user{} with the {}", by_name(name.as_ref()), plain(&in_words(wallet)))
        }
        Subject::User(user) => named(user),
        Subject::Wallet(_) => format!("the {}", called(who)),
    }
}

/// For how many an invitation is.
pub(super) fn for_people(uses: u32) -> String {
    match uses {
        1 => "one person".to_owned(),
        several => format!("up to {several} people"),
    }
}

/// A time in the longest unit that fits.
pub fn spelled(seconds: u32) -> String {
    const UNITS: [(u32, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let fits = |(length, _): &&(u32, &str)| seconds >= *length && seconds.is_multiple_of(*length);
    let (number, unit) = match UNITS.iter().find(fits) {
        Some((length, unit)) => (seconds / length, *unit),
        None => (seconds, "second"),
    };
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}

/// Who gets in by a rule; `None` is the setting.
pub(super) fn admitted(rule: Option<&AccessRule>) -> String {
    rule.map_or_else(|| "whomever the setting default_access lets in".to_owned(), ToString::to_string)
}

/// Which groups a client gets, as a sentence of its own.
pub(super) fn released(release: Option<&Release>) -> String {
    match release {
        None => String::new(),
        Some(Release::OfRule) => " It gets the groups of its rule.".to_owned(),
        Some(Release::All) => " It gets all groups of a person.".to_owned(),
        Some(groups @ Release::Groups(_)) => format!(" It gets these groups: {groups}."),
    }
}

pub(super) fn application(client: &NamedClient) -> String {
    match &client.name {
        Some(name) => format!("{} ({})", quoted(name), client.id),
        None => client.id.to_string(),
    }
}

pub(super) fn uris(before: &str, uris: &[String]) -> String {
    if uris.is_empty() {
        return String::new();
    }
    let uris: Vec<_> = uris.iter().map(|uri| plain(uri)).collect();
    format!("{before} {}.", uris.join(", "))
}

/// Who uses something, as a sentence of its own.
pub(super) fn use_of(what: &str, used_by: &UsedBy) -> String {
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
pub(super) enum Side {
    Registered,
    Changed,
}

/// What becomes of a field, before and after, as sentences of their own.
pub(super) fn of_field(change: &FieldChange, side: Side) -> String {
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
pub(super) fn of_metadata(metadata: &RequestedMetadata) -> String {
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

pub(super) fn resource_words(resource: &ResourceWords) -> String {
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
