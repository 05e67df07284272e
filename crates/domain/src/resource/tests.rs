//! What can be a resource, and for which clients.

use super::*;
use crate::testing::client;

fn issuer(url: &str) -> PublicUrl {
    PublicUrl::parse(url).unwrap()
}

fn rules(url: &str, declared: &[(&str, OpenTo)]) -> ResourceRules {
    let declared =
        declared.iter().map(|(uri, open_to)| DeclaredResource { uri: (*uri).to_owned(), open_to: *open_to });
    ResourceRules::new(issuer(url), declared.collect()).unwrap()
}

const LOOPBACK: &str = "http://127.0.0.1:8080";

#[test]
fn a_108_a_server_that_is_tried_out_takes_any_absolute_uri_without_a_fragment() {
    let rules = rules(LOOPBACK, &[]);
    for uri in ["https://api.example/v1", "https://api.example", "urn:example:api", "http://127.0.0.1:9/mcp"]
    {
        assert_eq!(rules.judge(&client(), [uri, uri]).unwrap(), [uri]);
    }
    for uri in [
        "",
        "api",
        "/v1",
        "//api.example",
        "https://api.example/#f",
        "https://api.example/a b",
        "https://é.example",
    ] {
        let refused = rules.judge(&client(), [uri]).unwrap_err();
        assert_eq!(refused.code, OAuthErrorCode::InvalidTarget, "{uri}");
    }
    assert!(rules.judge(&client(), [format!("https://api.example/{}", "a".repeat(600)).as_str()]).is_err());
    let nine: Vec<String> = (0..9).map(|number| format!("urn:example:{number}")).collect();
    assert!(rules.judge(&client(), nine.iter().map(String::as_str)).is_err());
}

#[test]
fn f_01_where_nothing_is_declared_a_server_that_others_reach_takes_none() {
    let rules = rules("https://auth.example", &[]);
    assert!(rules.judge(&client(), ["https://api.example"]).is_err());
    assert_eq!(rules.judge(&client(), []).unwrap(), Vec::<String>::new());
}

#[test]
fn f_01_a_declared_resource_is_taken_byte_for_byte() {
    for url in ["https://auth.example", LOOPBACK] {
        let rules = rules(url, &[("https://api.example/mcp", OpenTo::Everyone)]);
        assert!(rules.judge(&client(), ["https://api.example/mcp"]).is_ok());
        for variant in [
            "https://api.example/mcp/",
            "https://API.example/mcp",
            "HTTPS://api.example/mcp",
            "https://api.example:443/mcp",
            "https://api.example/%6dcp",
            "https://api.example/mcp?",
            "https://api.example//mcp",
            "https://api.example/./mcp",
            "http://api.example/mcp",
            "https://api.example",
        ] {
            assert!(rules.judge(&client(), [variant]).is_err(), "{variant}");
        }
    }
}

#[test]
fn f_01_a_named_resource_is_open_to_those_that_the_operator_named() {
    let rules = rules("https://auth.example", &[("urn:a", OpenTo::Named), ("urn:b", OpenTo::Everyone)]);
    let named = Client { resources: vec!["urn:a".to_owned(), "urn:c".to_owned()], ..client() };
    assert!(rules.judge(&named, ["urn:a", "urn:b"]).is_ok());
    assert!(rules.judge(&client(), ["urn:b"]).is_ok());
    assert!(rules.judge(&client(), ["urn:a"]).is_err());
    assert!(rules.judge(&named, ["urn:c"]).is_err(), "not declared");
    assert_eq!(rules.may_be_opened("urn:a"), Ok(true));
    assert_eq!(rules.may_be_opened("urn:c"), Ok(false));
}

#[test]
fn f_01_no_client_and_no_address_of_ours_is_a_resource_declared_or_not() {
    use ResourceUnfit::{Reserved, ThisServer};
    let cases = [
        ("https://auth.example", "urn:uuid:0b4d4a4e-2f5e-4c40-9c1b-7f1e57f5b0f1", Reserved),
        ("https://auth.example", "URN:UUID:0b4d4a4e-2f5e-4c40-9c1b-7f1e57f5b0f1", Reserved),
        ("https://auth.example", "urn:countersign:scope:email", Reserved),
        ("https://auth.example", "Urn:Countersign:client:x", Reserved),
        ("https://auth.example", "https://auth.example", ThisServer),
        ("https://auth.example", "https://auth.example/", ThisServer),
        ("https://auth.example", "https://auth.example/oauth/userinfo", ThisServer),
        ("https://auth.example", "https://AUTH.example/oauth/userinfo", ThisServer),
        ("https://auth.example", "https://auth.example:443/oauth/%75serinfo", ThisServer),
        ("https://auth.example", "https://auth.example./oauth/userinfo", ThisServer),
        ("https://auth.example", "https://somebody@auth.example/x", ThisServer),
        ("https://auth.example/sso", "https://auth.example/sso", ThisServer),
        ("https://auth.example/sso", "https://auth.example/%73so/oauth/userinfo", ThisServer),
        ("https://auth.example/sso", "https://auth.example/x/../sso/y", ThisServer),
        (LOOPBACK, "http://127.0.0.1:8080/oauth/userinfo", ThisServer),
        (LOOPBACK, "http://localhost:8080/oauth/userinfo", ThisServer),
        (LOOPBACK, "http://[::1]:8080/", ThisServer),
        (LOOPBACK, "http://0x7f.1:8080/", ThisServer),
    ];
    for (url, uri, unfit) in cases {
        let declared = DeclaredResource { uri: uri.to_owned(), open_to: OpenTo::Everyone };
        let refused = ResourceRules::new(issuer(url), vec![declared]).unwrap_err();
        assert_eq!(refused.1, unfit, "{uri}");
        let loose = ResourceRules { issuer: issuer(url), declared: Vec::new() };
        assert!(loose.judge(&client(), [uri]).is_err(), "{uri}");
    }
    let beside = ["https://auth.example/api", "https://auth.example", "https://auth.example/ssol"];
    for uri in beside {
        rules("https://auth.example/sso", &[(uri, OpenTo::Everyone)]);
    }
    let document = Client { document: Some("https://app.example/client".to_owned()), ..client() };
    assert!(rules(LOOPBACK, &[]).judge(&document, ["https://app.example/client"]).is_err());
    let id = client().id.to_string();
    assert!(rules(LOOPBACK, &[]).judge(&client(), [id.as_str()]).is_err(), "not an absolute URI");
}
