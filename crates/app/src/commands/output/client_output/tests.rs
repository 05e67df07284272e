use countersign_conformance::fixtures;
use countersign_domain::client::{ClientMetadata, DisplayMetadata};
use countersign_domain::readable::is_hidden;

use super::*;

fn with_keys(jwks: &str) -> Client {
    let client = fixtures::client();
    let display = DisplayMetadata { jwks: Some(jwks.to_owned()), ..fixtures::full_display() };
    Client { metadata: ClientMetadata { display, ..client.metadata.clone() }, ..client }
}

/// A stranger's keys can say anything, and a terminal obeys some of it.
#[test]
fn a_client_cannot_write_to_the_operators_terminal() {
    let strange = with_keys("{\"keys\":[],\"x\":\"\\u001b[2J\u{9b}2J\u{202e}\u{7f}\u{e0041}\"}");
    for output in [Output::Table, Output::Json] {
        let mut out = Vec::new();
        client(&strange, output, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.chars().any(|character| character != '\n' && is_hidden(character)), "{text:?}");
        assert!(text.contains("\\u001b[2J\\u009b2J\\u202e\\u007f\\udb40\\udc41"), "{text}");
    }
    let mut out = Vec::new();
    client(&strange, Output::Json, &mut out).unwrap();
    let read: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(read["jwks"]["x"], "\u{1b}[2J\u{9b}2J\u{202e}\u{7f}\u{e0041}", "it is the same JSON");
}

#[test]
fn people_see_the_fields_without_a_value_too() {
    let mut out = Vec::new();
    client(&fixtures::client(), Output::Table, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("\nlogo_uri                               -\n"), "{text}");
    assert!(text.contains("\nid_token_signed_response_alg           RS256 (default)\n"), "{text}");
    assert!(text.contains("\ndpop_bound_access_tokens               false\n"), "{text}");
}
