//! Clients that never registered: their id is the URL of a document that describes them (OAuth Client ID
//! Metadata Document). This file handles the URL. The use-cases check the document's content like a
//! registration.

use std::fmt;

use url::Url;

use crate::id::ClientId;
use crate::redirect_uri::{RedirectUri, UriOwner};

/// The longest such URL, in bytes. It is limited because it waits in a cookie.
const MAX_LENGTH: usize = 512;

/// The URL of a document that describes a client, in the one spelling that is its id.
#[derive(Clone, PartialEq, Eq)]
pub struct DocumentUrl(String);

impl DocumentUrl {
    /// Parses a URL: https with a host and a path, and nothing else. No user, no query, no fragment, and no
    /// dot segments. A server that is tried out on one machine accepts http there too.
    pub fn parse(text: &str, on_this_machine: bool) -> Option<Self> {
        // The spelling rules of redirect URIs apply first, then the stricter ones.
        RedirectUri::parse(text, UriOwner::Registered).ok().filter(|_| text.len() <= MAX_LENGTH)?;
        let url = Url::parse(text).ok().filter(|url| url.as_str() == text)?;
        let scheme_is_good = url.scheme() == "https" || (url.scheme() == "http" && on_this_machine);
        let has_path = url.path().len() > 1 && url.query().is_none() && !text.ends_with('?');
        (scheme_is_good && has_path).then(|| Self(text.to_owned()))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the client in storage.
    pub fn client(&self) -> ClientId {
        ClientId::of_document(&self.0)
    }
}

impl fmt::Debug for DocumentUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DocumentUrl({})", self.0)
    }
}

/// The host and port of the document's URL: who is responsible for it, shown to people.
pub fn host_of(document: &str) -> &str {
    let rest = document.split_once("://").map_or(document, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_https_address_with_a_path_is_the_id_of_a_client() {
        for text in [
            "https://app.example/client.json",
            "https://app.example:8443/oauth/client",
            "https://xn--bcher-kva.example/a/",
            "https://192.0.2.1/c",
        ] {
            assert_eq!(DocumentUrl::parse(text, false).map(|url| url.0), Some(text.to_owned()), "{text}");
        }
        assert_eq!(host_of("https://app.example:8443/oauth/client"), "app.example:8443");
    }

    #[test]
    fn whatever_else_is_no_id() {
        for text in [
            "",
            "app",
            "https://app.example",
            "https://app.example/",
            "https://app.example/c?",
            "https://app.example/c?x=1",
            "https://app.example/c#f",
            "https://app.example/c#",
            "https://user@app.example/c",
            "https://:@app.example/c",
            "https://app.example/a/../c",
            "https://app.example/./c",
            "https://app.example/a/%2e%2e/c",
            "https://app.example/%2E/c",
            "https://App.example/c",
            "https://app.example:443/c",
            "https:app.example/c",
            "https:///app.example/c",
            "HTTPS://app.example/c",
            "https://app.example\\c",
            "https://0x7f.1/c",
            "https://app.example/a b",
            "https://\u{e9}.example/c",
            "ftp://app.example/c",
            "com.example.app:/c",
            "javascript://app.example/c",
            "http://app.example/c",
        ] {
            assert_eq!(DocumentUrl::parse(text, true), None, "{text}");
        }
        assert_eq!(DocumentUrl::parse(&format!("https://app.example/{}", "a".repeat(512)), false), None);
    }

    #[test]
    fn http_is_for_a_server_on_the_same_machine() {
        for text in ["http://127.0.0.1:9000/c", "http://localhost:9000/c", "http://[::1]:9000/c"] {
            assert!(DocumentUrl::parse(text, true).is_some(), "{text}");
            assert!(DocumentUrl::parse(text, false).is_none(), "{text}");
        }
    }

    /// The digest was computed independently, with Python's `hashlib`.
    #[test]
    fn the_id_in_storage_is_made_of_the_address() {
        let id = ClientId::of_document("https://app.example/client.json");
        assert_eq!(id.to_string(), "1cfc0cdd-f5fc-8cea-b7ed-beec104523a3");
        assert_ne!(id, ClientId::of_document("https://app.example/client.jso"));
        assert_eq!(ClientId::named("https://app.example/client.json"), Some(id));
        assert_eq!(ClientId::named(&id.to_string()), Some(id));
        assert_eq!(ClientId::named("photos"), None);
    }
}
