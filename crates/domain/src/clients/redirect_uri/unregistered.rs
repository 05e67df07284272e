//! What a developer reads whose redirect URI is not registered: what was sent, what is registered, and in
//! what the two differ. Only those read it who may know what is registered (docs/threat-model.md).
//!
//! Anyone can write a redirect URI into a link to this server. So only a little of it is repeated, never the
//! values in its query, which can be secrets, and only if it has none but the characters of a URI. Nothing of
//! it is a link.

use std::borrow::Cow;

use url::Url;

use super::{RedirectUri, UriOwner, is_plain_uri_byte};

/// At most so many characters of a URI are repeated.
const MOST_CHARACTERS: usize = 200;
/// At most so many registered URIs are named.
const MOST_REGISTERED: usize = 5;

/// The sentence for a redirect URI that is not registered, or is missing.
pub fn describe(sent: Option<&str>, registered: &[RedirectUri], owner: UriOwner) -> String {
    let list = list(registered);
    let Some(sent) = sent.filter(|sent| !sent.is_empty()) else {
        return format!("it is missing; registered: {list}");
    };
    if !sent.bytes().all(is_plain_uri_byte) {
        let problem = if sent.trim() == sent { "no URI may hold" } else { "belongs before or after no URI" };
        return format!("it holds a character that {problem}; registered: {list}");
    }
    if registered.iter().any(|registered| registered.admits(sent, owner)) {
        return format!(
            "{} is registered, but today's rules no longer allow it; register another",
            shown(sent)
        );
    }
    let difference = registered.iter().find_map(|registered| difference(sent, registered.as_str()));
    match difference {
        Some(difference) => format!("{} is not registered ({difference}); registered: {list}", shown(sent)),
        None => format!("{} is not registered; registered: {list}", shown(sent)),
    }
}

fn list(registered: &[RedirectUri]) -> String {
    let named: Vec<_> =
        registered.iter().take(MOST_REGISTERED).map(|uri| cut(uri.as_str()).into_owned()).collect();
    match registered.len().saturating_sub(MOST_REGISTERED) {
        0 if named.is_empty() => "none".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The URI without user information, without a fragment and without the values of its query, also where these
/// are percent-encoded once too often.
fn shown(sent: &str) -> Cow<'_, str> {
    let hidden =
        |place: &usize| ["%3f", "%23", "%40"].contains(&&*sent[*place..*place + 3].to_ascii_lowercase());
    if let Some(end) =
        sent.match_indices('%').map(|(place, _)| place).filter(|place| sent.len() >= place + 3).find(hidden)
    {
        return Cow::Owned(format!("{}...", shown(&sent[..end])));
    }
    let plain = !sent.contains(['?', '#', '@']);
    if plain {
        return cut(sent);
    }
    let (rest, fragment) = sent.split_once('#').map_or((sent, ""), |(rest, _)| (rest, "#..."));
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let place = match (place.split_once("://"), place.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, behind))) => format!("{scheme}://...@{behind}"),
        (None, Some((_, behind))) => format!("...@{behind}"),
        (_, None) => place.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        let named = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) => format!("{name}=..."),
            None => "...".to_owned(),
        });
        format!("?{}", named.collect::<Vec<_>>().join("&"))
    });
    Cow::Owned(cut(&format!("{place}{query}{fragment}")).into_owned())
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}

/// In what two URIs differ, if it is one thing that people often overlook.
fn difference(sent: &str, registered: &str) -> Option<&'static str> {
    let without_slash = |text: &str| text.trim_end_matches('/').to_owned();
    if without_slash(sent) == without_slash(registered) {
        return Some("the slash at the end differs");
    }
    if sent.eq_ignore_ascii_case(registered) {
        return Some("upper and lower case differ");
    }
    if form_decoded(sent).as_deref() == Some(registered) {
        return Some("it is percent-encoded twice");
    }
    let (one, other) = (Url::parse(sent).ok()?, Url::parse(registered).ok()?);
    let same = |part: fn(&Url) -> Option<String>| part(&one) == part(&other);
    let scheme = same(|url| Some(url.scheme().to_owned()));
    let host = same(|url| url.host_str().map(ToOwned::to_owned));
    let port = same(|url| url.port_or_known_default().map(|port| port.to_string()));
    let written_port = same(|url| url.port().map(|port| port.to_string()));
    let path = same(|url| Some(url.path().to_owned()));
    let query = same(|url| url.query().map(ToOwned::to_owned));
    let fragment = same(|url| url.fragment().map(ToOwned::to_owned));
    let loopback = |url: &Url| matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match (scheme, host, port, path, query, fragment) {
        (true, true, true, true, true, true) => Some("it is spelled differently"),
        (true, true, true, true, true, false) => Some("it has a fragment"),
        (true, true, true, true, false, true) => Some("the query differs"),
        (true, true, true, false, true, true) => Some("the path differs"),
        (true, true, false, true, true, true) => Some("the port differs"),
        (false, true, _, true, true, true) if written_port => Some("http and https differ"),
        (true, false, _, true, true, true) if loopback(&one) && loopback(&other) => {
            Some("localhost and 127.0.0.1 are two hosts")
        }
        _ => None,
    }
}

fn form_decoded(text: &str) -> Option<String> {
    let line = format!("v={}", text.replace('&', "%26").replace('+', "%2B"));
    url::form_urlencoded::parse(line.as_bytes()).next().map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(sent: &str, registered: &[&str]) -> String {
        let registered: Vec<_> =
            registered.iter().map(|uri| RedirectUri::parse(uri, UriOwner::Registered).unwrap()).collect();
        describe(Some(sent).filter(|sent| !sent.is_empty()), &registered, UriOwner::Registered)
    }

    #[test]
    fn the_sentence_names_what_people_overlook() {
        let registered = "https://a.example/cb";
        for (sent, difference) in [
            ("https://a.example/cb/", "the slash at the end differs"),
            ("https://a.example/CB", "upper and lower case differ"),
            ("http://a.example/cb", "http and https differ"),
            ("https://a.example:8443/cb", "the port differs"),
            ("https://a.example/callback", "the path differs"),
            ("https://a.example/cb?tenant=1", "the query differs"),
            ("https://a.example/cb#top", "it has a fragment"),
            ("https%3A%2F%2Fa.example%2Fcb", "it is percent-encoded twice"),
            ("https://a.example:443/cb", "it is spelled differently"),
        ] {
            assert!(
                about(sent, &[registered]).contains(&format!("is not registered ({difference})")),
                "{sent}"
            );
        }
        let local = about("http://localhost:3000/cb", &["http://127.0.0.1:3000/cb"]);
        assert!(local.contains("(localhost and 127.0.0.1 are two hosts)"), "{local}");
        assert_eq!(
            about("https://b.example/", &[registered]),
            "https://b.example/ is not registered; registered: https://a.example/cb"
        );
        assert_eq!(
            about("<b>hello</b>", &[registered]),
            "it holds a character that no URI may hold; registered: https://a.example/cb"
        );
        assert_eq!(about("", &[registered]), "it is missing; registered: https://a.example/cb");
        assert_eq!(about("", &[]), "it is missing; registered: none");
    }

    #[test]
    fn nothing_secret_of_what_was_sent_is_repeated_and_nothing_long() {
        let said = about(
            "https://u:hunter2@a.example/cb?code=s3cret&x#access_token=t0ken",
            &["https://a.example/cb"],
        );
        assert!(said.starts_with("https://...@a.example/cb?code=...&...#... is not registered"), "{said}");
        for hidden in
            ["https%3A%2F%2Fa.example%2Fcb%3Fcode%3Ds3cret", "https://a.example/cb%23access_token%3Ds3cret"]
        {
            let said = about(hidden, &["https://b.example/cb"]);
            assert!(!said.contains("s3cret") && said.contains("a.example"), "{said}");
        }
        let said = about(&format!("https://a.example/{}", "x".repeat(5_000)), &["https://a.example/cb"]);
        assert!(said.len() < 400, "{said}");
        let many: Vec<_> = (0..20).map(|n| format!("https://a.example/{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(about("https://b.example/", &many).ends_with("https://a.example/4 and 15 more"));
    }
}
