//! The language menu at the foot of a page: where a choice leads, and what it keeps.

use actix_web::HttpRequest;
use actix_web::http::Method;
use serde::Serialize;

use crate::page::language::Language;
use crate::page::name::Name;

/// The query parameters that a change of language keeps: which request the page is about, that the user wants
/// another wallet, what was just done, the secret of a mailed link, the code of a device, and where in a list the
/// page begins.
const KEPT: [&str; 6] = ["request", "another", "done", "token", "user_code", "after"];

/// Those that the desk's lists keep too: what they are filtered by, and what was searched for.
const KEPT_AT_THE_DESK: [&str; 10] =
    ["blocked", "client", "group", "kind", "limit", "q", "since", "type", "until", "user"];

/// No value that we write into a query is longer.
const MAX_KEPT: usize = 64;

/// The form that chooses a language.
#[derive(Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Menu {
    /// Where the form goes, if not to the page itself.
    action: Option<String>,
    keep: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Field {
    name: String,
    value: String,
}

impl Menu {
    /// Does the form send more than the choice?
    pub(crate) const fn keeps(&self) -> bool {
        !self.keep.is_empty()
    }

    /// The menu of a page, if its choice can lead back to the same page.
    pub(crate) fn of(request: &HttpRequest, page: Name, base: &str) -> Option<Self> {
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let query = request.query_string();
        let can_be_read_again = match page {
            // This page is also the response to forms, whose URL is another one.
            Name::Auth => true,
            // These pages are shown only once.
            Name::FormPost | Name::Offer => false,
            // We do not repeat what was wrong or what a client sent. Without it, the page would be a
            // different one.
            Name::Error | Name::Logout => is_read && Language::is_all_of(query),
            Name::Account
            | Name::AccountEmail
            | Name::AccountEvents
            | Name::AccountWallet
            | Name::Continue
            | Name::Desk(_)
            | Name::Device
            | Name::DeviceDone
            | Name::Docs
            | Name::Home
            | Name::Join
            | Name::Playground
            | Name::Received
            | Name::SignedOut
            | Name::Verify => is_read,
        };
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let at_the_desk = if matches!(page, Name::Desk(_)) { KEPT_AT_THE_DESK.len() } else { 0 };
        let most = KEPT.len() + at_the_desk;
        can_be_read_again.then(|| Self {
            action: (!is_read).then(|| format!("{base}/auth")),
            keep: pairs
                .filter(|(name, value)| is_kept(&page, name) && value.len() <= MAX_KEPT)
                .take(most)
                .map(|(name, value)| Field { name: name.into_owned(), value: value.into_owned() })
                .collect(),
        })
    }
}

/// Does a change of language on this page keep the parameter?
fn is_kept(page: &Name, parameter: &str) -> bool {
    KEPT.contains(&parameter) || matches!(page, Name::Desk(_)) && KEPT_AT_THE_DESK.contains(&parameter)
}

#[cfg(test)]
mod tests;
