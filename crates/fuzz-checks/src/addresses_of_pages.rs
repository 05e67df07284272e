//! What must be true of redirect URIs and of the server's own URL.

use countersign_domain::public_url::{PublicUrl, PublicUrlRejected};
use countersign_domain::redirect_uri::{MAX_LENGTH, RedirectUri, UriOwner};
use url::{Host, Url};

use crate::is_printable;

/// Reads the first line as a registered redirect URI, and the rest as a requested one, for every kind of client.
pub fn redirect_uri(input: &str) {
    for owner in [UriOwner::Registered, UriOwner::Described, UriOwner::Public] {
        redirect_uri_of(input, owner);
    }
}

fn redirect_uri_of(input: &str, owner: UriOwner) {
    let (registered, requested) = input.split_once('\n').unwrap_or((input, ""));
    let Ok(uri) = RedirectUri::parse(registered, owner) else { return };
    assert_eq!(uri.as_str(), registered);
    assert!(registered.len() <= MAX_LENGTH && is_printable(registered));
    let url = Url::parse(registered).expect("an absolute URI");
    assert!(url.fragment().is_none() && url.username().is_empty() && url.password().is_none());
    assert!(uri.admits(registered, owner));

    let destination = uri.destination().to_string();
    assert!(!destination.is_empty() && destination.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    if let Some(host) = url.host().filter(|_| matches!(url.scheme(), "http" | "https")) {
        assert!(destination.contains(&host.to_string()), "{registered} leads to {destination}");
        assert_eq!(Url::parse(&uri.origin()).expect("an origin").origin(), url.origin());
    }
    answers_are_added(&uri, &url, requested);
    // The request is also inserted between the registered host and path, so that ports are tried often.
    let slashes = registered.find("//").map_or(0, |slashes| slashes + 2);
    let host = registered.find(']').unwrap_or(slashes);
    let path_starts = registered[host..].find([':', '/', '?']).map_or(registered.len(), |at| host + at);
    let (origin, path) = registered.split_at(path_starts);
    for requested in [requested.to_owned(), format!("{origin}{requested}{path}")] {
        if uri.admits(&requested, owner) {
            only_the_port_differs(registered, &requested, owner);
        }
    }
}

/// The response is appended to the URI, whatever its values are, and does not lead anywhere else.
fn answers_are_added(uri: &RedirectUri, url: &Url, value: &str) {
    let answer = [("code", "a_b-c"), ("state", value)];
    let target = uri.with_answer(&answer);
    assert!(is_printable(&target), "{target:?} in a header");
    let target = Url::parse(&target).expect("a URL with an answer");
    assert_eq!((target.scheme(), target.host(), target.port()), (url.scheme(), url.host(), url.port()));
    assert_eq!((target.path(), target.fragment()), (url.path(), None));
    let expected = url
        .query_pairs()
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .chain(answer.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let pairs = target.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned()));
    assert!(pairs.eq(expected), "{target}");
}

/// The browser is redirected to the requested URI, so it must be as valid as a registered one. It can differ only
/// in the port of a loopback address (RFC 8252 section 7.3).
fn only_the_port_differs(registered: &str, requested: &str, owner: UriOwner) {
    assert!(RedirectUri::parse(requested, owner).is_ok(), "{requested}");
    if registered == requested {
        return;
    }
    let [mut one, mut other] = [registered, requested].map(|text| Url::parse(text).expect("a URL"));
    let loopback = match one.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" && owner > UriOwner::Registered,
        None => false,
    };
    assert!(loopback && one.scheme() == "http", "{registered} admits {requested}");
    for url in [&mut one, &mut other] {
        url.set_port(None).expect("a host");
    }
    assert_eq!(one, other);
}

/// Reads the setting.
pub fn public_url(input: &str) {
    let url = match PublicUrl::parse(input) {
        Ok(url) => url,
        Err(PublicUrlRejected::NotCanonical(proposal)) => {
            let taken = PublicUrl::parse(&proposal);
            assert!(
                taken.is_ok_and(|taken| taken.as_str() == proposal),
                "the proposal {proposal} is not taken"
            );
            return;
        }
        Err(
            PublicUrlRejected::NotAbsolute
            | PublicUrlRejected::Scheme
            | PublicUrlRejected::PlainHttp
            | PublicUrlRejected::Extras
            | PublicUrlRejected::TooLong,
        ) => return,
    };
    assert_eq!(PublicUrl::parse(url.as_str()), Ok(url.clone()), "the issuer is a fixed point");
    assert!(is_printable(url.as_str()) && !url.as_str().ends_with('/'));
    assert!(url.is_https() || url.is_loopback());
    assert!(url.path().is_empty() || url.path().starts_with('/'));
    assert_eq!(url.as_str(), format!("{}{}", url.origin(), url.path()));
    assert!(url.origin().ends_with(url.authority()) && !url.authority().contains(['/', '@', '?', '#']));
    let endpoint = Url::parse(&url.join("/oauth/token")).expect("the address of an endpoint");
    assert_eq!(endpoint.origin().ascii_serialization(), url.origin());
    assert_eq!(endpoint.path(), format!("{}/oauth/token", url.path()));
}
