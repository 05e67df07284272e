//! What a client registers about itself, and who sees it.

use countersign_tests::ClientSite;
use countersign_tests::openid::{Party, Person};
use serde_json::{Value, json};

use super::client;
use crate::suite::Suite;

/// A client can register a logo. The page never shows it, because a logo could track users or mislead them
/// (B-069).
#[test]
fn oidcc_registration_logo_uri() {
    let page = page_of_a_client_with("logo_uri", "https://client.example/logo.png", client);
    assert!(!page.contains("logo.png"), "{page}");
}

/// A client can register the URL of its privacy policy. The page links to it only if the operator
/// registered the client.
#[test]
fn oidcc_registration_policy_uri() {
    the_page_leads_to("policy_uri", "https://client.example/policy");
}

/// A client can register the URL of its terms of service. The page links to it only if the operator
/// registered the client.
#[test]
fn oidcc_registration_tos_uri() {
    the_page_leads_to("tos_uri", "https://client.example/tos");
}

/// A client can share its `sub` values with those whose redirect URIs are in one list.
#[test]
fn oidcc_registration_sector_uri() {
    let suite = Suite::start();
    let public = client(&suite, &json!({}));
    let uri = public.registration["redirect_uris"][0].clone();
    let site = ClientSite::start(json!([uri, "https://other.example/cb"]));
    let sector = json!({"subject_type": "pairwise", "sector_identifier_uri": site.url("/sector.json")});
    let [one, other] = [(); 2].map(|()| client(&suite, &sector));
    assert_eq!(one.registration["sector_identifier_uri"], sector["sector_identifier_uri"]);
    let mut person = Person::new(&suite);
    let mut known = |party: &Party| {
        let request = party.request();
        let code = person.answer(&suite, &request).code();
        suite.redeem(party, &request, &code).claims["sub"].clone()
    };
    let subs = [known(&one), known(&other), known(&public)];
    assert!(subs[0] == subs[1] && subs[0] != subs[2], "{subs:?}");
}

/// A list without the client's redirect URI is refused.
#[test]
fn oidcc_registration_sector_bad() {
    let suite = Suite::start();
    let site = ClientSite::start(json!(["https://other.example/cb"]));
    let metadata = json!({"subject_type": "pairwise", "sector_identifier_uri": site.url("/sector.json")});
    let refused = suite.ask_to_register(&metadata);
    assert_eq!(refused.verdict(), "400 invalid_client_metadata");
}

/// Nobody has checked the URLs of a client that registered itself, so its page links to none of them.
#[track_caller]
fn the_page_leads_to(name: &str, uri: &str) {
    let link = format!(r#"href="{uri}""#);
    assert!(!page_of_a_client_with(name, uri, client).contains(&link), "{link}");
    let page = page_of_a_client_with(name, uri, Suite::let_in);
    assert!(page.contains(&link), "{link} in {page}");
}

/// Registers a client with one more URL, signs a user in, and returns the page that they saw.
#[track_caller]
fn page_of_a_client_with(name: &str, uri: &str, register: impl Fn(&Suite, &Value) -> Party) -> String {
    let suite = Suite::start();
    let party = register(&suite, &json!({name: uri}));
    assert_eq!(party.registration[name], uri);
    let (mut person, request) = (Person::new(&suite), party.request());
    let begun = person.visit(&suite, &request).expect(302);
    let page = person.page_text(&begun).unwrap();
    let code = person.finish(&suite, &request, begun).code();
    suite.redeem(&party, &request, &code);
    page
}
