//! The menu of languages at the foot of a page: where its choice leads, and what it keeps.

use actix_web::HttpRequest;
use actix_web::http::Method;
use serde::Serialize;

use crate::page::language::Language;
use crate::page::name::Name;

/// What of a page's query a change of language keeps: which request the page is about, that another wallet is wanted, what
/// was just done, the secret of a link that was mailed, and the code of a device.
const KEPT: [&str; 5] = ["request", "another", "done", "token", "user_code"];

/// Nothing that we write into a query is longer.
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
    /// Does it send more than the choice?
    pub(crate) const fn keeps(&self) -> bool {
        !self.keep.is_empty()
    }

    /// The menu of a page, if its choice can lead back to the same page.
    pub(crate) fn of(request: &HttpRequest, name: Name, base: &str) -> Option<Self> {
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let query = request.query_string();
        let can_be_read_again = match name {
            // The page also answers forms, and then its own address is another one.
            Name::Auth => true,
            // An answer is shown once.
            Name::FormPost | Name::Offer => false,
            // What was wrong is not repeated, and without it the error would be another; nor is what a client sent.
            Name::Error | Name::Logout => is_read && Language::is_all_of(query),
            Name::Account
            | Name::AccountEmail
            | Name::AccountWallet
            | Name::Continue
            | Name::Device
            | Name::DeviceDone
            | Name::Docs
            | Name::Home
            | Name::Playground
            | Name::SignedOut
            | Name::Verify => is_read,
        };
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        can_be_read_again.then(|| Self {
            action: (!is_read).then(|| format!("{base}/auth")),
            keep: pairs
                .filter(|(name, value)| KEPT.contains(&name.as_ref()) && value.len() <= MAX_KEPT)
                .take(KEPT.len())
                .map(|(name, value)| Field { name: name.into_owned(), value: value.into_owned() })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests;
