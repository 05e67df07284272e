//! What can be a resource, and for which clients.

use super::*;
use crate::client::ClientMetadata;
use crate::scope::ScopeName;
use crate::testing::{catalog, client};

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
        let loose = ResourceRules { issuer: issuer(url), declared: Vec::new(), catalog: Arc::default() };
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

fn with_scopes() -> ResourceRules {
    rules("https://auth.example", &[("urn:c", OpenTo::Everyone)]).with(Arc::new(catalog(&[
        ("urn:a", OpenTo::Everyone, &["a.read", "a.write"]),
        ("urn:b", OpenTo::Named, &["b.read"]),
    ])))
}

/// What people are asked to sign, if the client registered these scopes and names this `scope`.
fn asked(
    client: &Client,
    scope: Option<&str>,
    resources: &[&str],
) -> Result<(String, String), OAuthErrorCode> {
    let rules = with_scopes();
    let judged = crate::authorization::judge_scope(scope, client, true, rules.catalog());
    let chosen = judged.and_then(|judged| {
        rules.choose(client, &judged, Naming::of(client, scope), resources.iter().copied())
    });
    chosen.map(|(scope, resources)| (scope.to_string(), resources.join(" "))).map_err(|error| error.code)
}

fn registered(scopes: &str) -> Client {
    let metadata = ClientMetadata { scopes: ScopeSet::from_stored(scopes).unwrap(), ..client().metadata };
    Client { metadata, ..client() }
}

#[test]
fn a_scope_stands_for_its_resource() {
    let got = |scope: &str, resources: &str| Ok((scope.to_owned(), resources.to_owned()));
    let client = Client { resources: vec!["urn:b".to_owned()], ..registered("openid a.read a.write b.read") };
    assert_eq!(asked(&client, Some("a.read"), &[]), got("a.read", "urn:a"));
    assert_eq!(asked(&client, Some("openid a.read"), &[]), got("openid a.read", "urn:a"));
    assert_eq!(asked(&client, Some("a.read a.write"), &["urn:a"]), got("a.read a.write", "urn:a"));
    assert_eq!(asked(&client, Some("b.read a.read"), &[]), got("a.read b.read", "urn:a urn:b"));
    assert_eq!(asked(&client, Some("openid"), &["urn:c"]), got("openid", "urn:c"));
    assert_eq!(asked(&client, None, &["urn:a"]), got("openid a.read a.write", "urn:a"));
    assert_eq!(asked(&client, None, &["urn:c"]), got("openid", "urn:c"));
    assert_eq!(asked(&client, None, &[]), got("openid a.read a.write b.read", "urn:a urn:b"));
}

#[test]
fn f_01_a_scope_of_another_resource_is_refused() {
    let client = Client { resources: vec!["urn:b".to_owned()], ..registered("openid a.read b.read") };
    let got = Ok(("openid a.read".to_owned(), "urn:a".to_owned()));
    assert_eq!(asked(&client, Some("openid a.read b.read"), &["urn:a"]), got, "a stranger gets the rest");
    let client = Client { origin: ClientOrigin::Operator, ..client };
    for (scope, resource) in
        [("b.read", "urn:a"), ("a.read", "urn:b"), ("openid a.read b.read", "urn:a"), ("a.read", "urn:c")]
    {
        assert_eq!(
            asked(&client, Some(scope), &[resource]),
            Err(OAuthErrorCode::InvalidScope),
            "{scope} {resource}"
        );
    }
}

#[test]
fn f_01_scopes_of_a_named_resource_are_for_those_that_the_operator_named() {
    let stranger = registered("openid a.read b.read");
    assert_eq!(asked(&stranger, Some("b.read"), &[]), Err(OAuthErrorCode::InvalidScope));
    assert_eq!(asked(&stranger, Some("b.read"), &["urn:b"]), Err(OAuthErrorCode::InvalidTarget));
    let got = Ok(("openid a.read".to_owned(), "urn:a".to_owned()));
    assert_eq!(asked(&stranger, Some("openid a.read b.read"), &[]), got);
    assert_eq!(asked(&stranger, None, &[]), got, "what nobody named is left out");
    assert_eq!(asked(&registered("b.read"), None, &[]), Err(OAuthErrorCode::InvalidScope));
    assert_eq!(
        asked(&registered("openid"), Some("a.read"), &[]),
        Err(OAuthErrorCode::InvalidScope),
        "not registered"
    );
    assert_eq!(
        asked(&registered("openid z.read"), Some("z.read"), &[]),
        Err(OAuthErrorCode::InvalidScope),
        "deleted"
    );
}

#[test]
fn audience_is_another_word_for_one_resource() {
    let named = |form: &str| named_in(&Parameters::from_form(form)).map_err(|error| error.code);
    let of = |uris: &[&str]| Ok(uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>());
    assert_eq!(named("resource=urn%3Aa&resource=urn%3Ab"), of(&["urn:a", "urn:b"]));
    assert_eq!(named("audience=urn%3Aa"), of(&["urn:a"]));
    assert_eq!(named("audience=urn%3Aa&resource=urn%3Aa"), of(&["urn:a"]));
    assert_eq!(named("audience=&resource=urn%3Aa"), of(&["urn:a"]));
    assert_eq!(named("audience=urn%3Aa&resource=urn%3Ab"), Err(OAuthErrorCode::InvalidTarget));
    assert_eq!(
        named("audience=urn%3Aa&resource=urn%3Aa&resource=urn%3Ab"),
        Err(OAuthErrorCode::InvalidTarget)
    );
    assert_eq!(named("audience=urn%3Aa&audience=urn%3Aa"), Err(OAuthErrorCode::InvalidRequest));
}

#[test]
fn a_catalog_knows_the_owner_of_each_scope() {
    let catalog =
        catalog(&[("urn:b", OpenTo::Named, &["b.read"]), ("urn:a", OpenTo::Everyone, &["a.read", "b.read"])]);
    assert_eq!(catalog.owner("a.read").unwrap().uri, "urn:a");
    assert_eq!(
        catalog.owner("b.read").unwrap().uri,
        "urn:a",
        "storage keeps names apart; if it did not, one owns it"
    );
    assert!(catalog.owner("c").is_none() && catalog.scope("").is_none());
    let open: Vec<_> = catalog.open_scopes().map(ScopeName::as_str).collect();
    assert_eq!(open, ["a.read", "b.read"]);
    let less = catalog.only(|_, name| name.as_str() == "a.read");
    assert!(less.scope("b.read").is_none() && less.scope("a.read").is_some());
}

#[test]
fn people_see_the_host_of_a_resource() {
    let cases = [
        ("https://api.example.com/v1", "api.example.com"),
        ("https://api.example.com", "api.example.com"),
        ("https://api.example.com:8443?x", "api.example.com:8443"),
        ("https://paypal.com@evil.example/", "evil.example"),
        ("urn:example:api", "urn:example:api"),
        ("file:///etc", "file:///etc"),
    ];
    for (uri, shown) in cases {
        let catalog = catalog(&[(uri, OpenTo::Everyone, &[])]);
        assert_eq!(catalog.resource(uri).unwrap().shown_as(), shown);
    }
}

#[test]
fn a_title_can_be_read_by_the_person_who_signs() {
    assert_eq!(ScopeTitle::parse(" See your photos ").unwrap().as_str(), "See your photos");
    for hostile in ["", " ", "a\u{202e}b", "a\nb", "\u{200b}", "a\u{0}b"] {
        assert!(ScopeTitle::parse(hostile).is_err(), "{hostile:?}");
    }
    assert!(ScopeTitle::parse(&"a".repeat(200)).is_err());
    assert!(ScopeTitle::parse("<b>&amp;</b>").is_ok(), "the page escapes it");
}

#[test]
fn the_parts_of_a_uri_are_the_whole_uri_and_name_its_host() {
    for (uri, host) in [
        ("https://mcp.example.com/mcp", Some("mcp.example.com")),
        ("https://mcp.example.com:8443/mcp?x=https://b.example/", Some("mcp.example.com:8443")),
        ("https://mcp.example.com", Some("mcp.example.com")),
        ("https://mcp.example.com?x", Some("mcp.example.com")),
        ("https://good.example@evil.example/mcp", Some("evil.example")),
        ("https://[::1]:9/mcp", Some("[::1]:9")),
        ("urn:example:api", None),
        ("https:///mcp", None),
        ("https://", None),
        ("", None),
    ] {
        let UriParts { before, host: found, after } = UriParts::of(uri);
        assert_eq!(found, host, "{uri}");
        assert_eq!(format!("{before}{}{after}", found.unwrap_or_default()), uri);
    }
}
