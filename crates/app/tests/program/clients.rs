//! Clients at the command line: every field of a registration at `create`, `show` and `update`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::place::{Ended, Place};
use crate::server::Server;

const CREATE: [&str; 5] =
    ["client", "create", "--name=Photo Album", "--output=json", "--redirect-uri=https://photos.example/cb"];

/// Every flag that does not stand in [`CREATE`].
const EVERYTHING: [&str; 17] = [
    "--scope=openid profile",
    "--scope=email",
    "--grant-type=authorization_code",
    "--grant-type=client_credentials",
    "--auth-method=private_key_jwt",
    "--jwks-uri=https://photos.example/jwks",
    "--token-endpoint-auth-signing-alg=ES256",
    "--id-token-signed-response-alg=EdDSA",
    "--require-pushed-authorization-requests",
    "--dpop-bound-access-tokens=true",
    "--post-logout-redirect-uri=https://photos.example/bye",
    "--backchannel-logout-uri=https://photos.example/logout",
    "--client-uri=https://photos.example",
    "--logo-uri=https://photos.example/logo.png",
    "--tos-uri=https://photos.example/terms",
    "--policy-uri=https://photos.example/privacy",
    "--contact=ann@photos.example",
];

/// A place with a database.
fn place() -> Place {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, 0);
    place
}

/// The last line of standard error. Before it may stand what every command says.
fn said(ended: &Ended) -> &str {
    let mut lines = ended.err.lines().rev();
    lines.find(|line| line.starts_with("countersign: ")).unwrap_or_default()
}

fn create(place: &Place, arguments: &[&str]) -> Value {
    place.json(&[&CREATE[..], arguments].concat())
}

fn show(place: &Place, id: &str) -> Value {
    place.json(&["client", "show", id, "--output", "json"])
}

fn id(client: &Value) -> &str {
    client["client_id"].as_str().unwrap()
}

/// What a registration says; the rest differs from client to client.
fn registration(client: &Value) -> Value {
    let mut client = client.clone();
    for name in [
        "client_id",
        "created_at",
        "client_secret",
        "registration_access_token",
        "secrets",
        "changed",
        "access",
        "rule",
        "release",
        "secret_mark",
    ] {
        client.as_object_mut().unwrap().remove(name);
    }
    client.as_object_mut().unwrap().retain(|_, value| *value != json!([]));
    client
}

fn everything() -> Value {
    json!({
        "client_name": "Photo Album",
        "redirect_uris": ["https://photos.example/cb"],
        "scope": "openid profile email",
        "grant_types": ["authorization_code", "client_credentials"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_signing_alg": "ES256",
        "jwks_uri": "https://photos.example/jwks",
        "id_token_signed_response_alg": "EdDSA",
        "require_pushed_authorization_requests": true,
        "dpop_bound_access_tokens": true,
        "post_logout_redirect_uris": ["https://photos.example/bye"],
        "backchannel_logout_uri": "https://photos.example/logout",
        "client_uri": "https://photos.example",
        "logo_uri": "https://photos.example/logo.png",
        "tos_uri": "https://photos.example/terms",
        "policy_uri": "https://photos.example/privacy",
        "contacts": ["ann@photos.example"],
        "registered_by": "operator",
    })
}

#[test]
fn every_field_is_registered_and_shown_in_both_outputs() {
    let place = place();
    let created = create(&place, &EVERYTHING);
    assert_eq!(registration(&created), everything());
    assert_eq!(registration(&show(&place, id(&created))), everything());
    let table = place.run(&["client", "show", id(&created)]).out;
    for (name, value) in everything().as_object().unwrap() {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Array(entries) => entries.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        };
        let line = table
            .lines()
            .find(|line| line.split(' ').next() == Some(name))
            .unwrap_or_else(|| panic!("{name}"));
        assert_eq!(line.split_once(' ').unwrap().1.trim(), value, "{name}");
    }
}

#[test]
fn show_says_whom_a_client_lets_in_as_access_show_does() {
    let place = place();
    let created = create(&place, &[]);
    let id = id(&created);
    let table = || place.run(&["client", "show", id]).out;
    let line = |table: &str, name: &str| {
        let line = table.lines().find(|line| line.split(' ').next() == Some(name)).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{name}: {table}")).split_once(' ').unwrap().1.trim().to_owned()
    };
    let said = |shown: &Value| ["access", "rule", "release"].map(|name| shown[name].clone());
    let before = table();
    assert_eq!(line(&before, "access"), "everyone (default_access)");
    assert_eq!(line(&before, "release"), "those of its rule");
    assert_eq!(said(&show(&place, id)), [json!("everyone"), Value::Null, json!("rule")]);

    assert_eq!(place.run(&["group", "create", "staff"]).code, 0);
    let set = place.run(&["access", "set", id, "groups:staff", "--release", "all"]);
    assert_eq!(set.code, 0, "{}", set.err);
    let after = table();
    assert_eq!((line(&after, "access"), line(&after, "release")), ("groups:staff".into(), "all".into()));
    let shown = show(&place, id);
    assert_eq!(said(&shown), [json!("groups:staff"), json!("groups:staff"), json!("all")]);
    assert_eq!(said(&shown), said(&place.json(&["access", "show", id, "--output", "json"])));

    // The file says it too, and sets nothing.
    fs::write(place.path("client.json"), shown.to_string()).unwrap();
    let again = place.run(&["client", "create", "--from-file", "client.json", "--output", "json"]);
    assert!(again.code == 0 && !again.err.contains("ignored"), "{}", again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    let again = again["client_id"].as_str().unwrap();
    assert_eq!(said(&show(&place, again)), [json!("everyone"), Value::Null, json!("rule")]);
}

#[test]
fn what_show_prints_registers_the_same_client_again_and_flags_replace_what_the_file_says() {
    let place = place();
    let first = create(&place, &EVERYTHING);
    let shown = place.run(&["client", "show", id(&first), "--output", "json"]).out;
    fs::write(place.path("client.json"), &shown).unwrap();
    let again = place.json(&["client", "create", "--from-file", "client.json", "--output", "json"]);
    assert_ne!(id(&again), id(&first));
    assert_eq!(registration(&again), everything());

    let renamed = ["client", "create", "--from-file", "-", "--name", "Other", "--output", "json"];
    let renamed = place.run_with_input(&renamed, &shown);
    let renamed: Value = serde_json::from_str(&renamed.out).unwrap_or_else(|_| panic!("{renamed:?}"));
    let mut expected = everything();
    expected["client_name"] = json!("Other");
    assert_eq!(registration(&renamed), expected);

    let same = place.run(&["client", "update", id(&first), "--from-file", "client.json"]);
    assert_eq!((same.code, same.out.as_str()), (0, "nothing changed\n"), "{}", same.err);
    let other = place.run(&["client", "update", id(&again), "--from-file", "client.json"]);
    assert_eq!((other.code, said(&other)), (2, "countersign: client_id in the file is another client's"));
}

#[test]
fn an_update_changes_the_named_fields_alone_and_says_so() {
    let place = place();
    let created = create(&place, &EVERYTHING);
    let logo = "https://photos.example/new.png";
    let changed = place.run(&["client", "update", id(&created), "--logo-uri", logo, "--clear", "contacts"]);
    assert_eq!(changed.code, 0, "{}", changed.err);
    assert_eq!(
        changed.out,
        "CHANGED   BEFORE                           NOW\n\
         logo_uri  https://photos.example/logo.png  https://photos.example/new.png\n\
         contacts  ann@photos.example               -\n"
    );
    let mut expected = everything();
    expected["logo_uri"] = json!(logo);
    expected.as_object_mut().unwrap().remove("contacts");
    let shown = show(&place, id(&created));
    assert_eq!(registration(&shown), expected);
    assert_eq!((&shown["client_id"], &shown["created_at"]), (&created["client_id"], &created["created_at"]));

    fs::write(place.path("patch.json"), r#"{"logo_uri": null, "scopes": ["openid"]}"#).unwrap();
    let patch = ["client", "update", id(&created), "--from-file", "patch.json", "--output", "json"];
    let patched = place.json(&[&patch[..], &["--require-pushed-authorization-requests=false"]].concat());
    assert_eq!(patched["changed"], json!(["scope", "require_pushed_authorization_requests", "logo_uri"]));
    expected["scope"] = json!("openid");
    expected["require_pushed_authorization_requests"] = json!(false);
    expected.as_object_mut().unwrap().remove("logo_uri");
    assert_eq!(registration(&patched), expected);

    let keys = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","alg":"ES256",
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
    fs::write(place.path("keys.json"), keys).unwrap();
    let both = place.run(&["client", "update", id(&created), "--jwks-file", "keys.json"]);
    assert_eq!((both.code, said(&both)), (2, "countersign: jwks and jwks_uri exclude each other"));
    let replaced = [
        "client",
        "update",
        id(&created),
        "--jwks-file",
        "keys.json",
        "--clear",
        "jwks_uri",
        "--output=json",
    ];
    assert_eq!(place.json(&replaced)["changed"], json!(["jwks", "jwks_uri"]));
}

#[test]
fn every_field_that_can_be_cleared_goes_back_to_its_default() {
    let place = place();
    let created = create(&place, &EVERYTHING);
    let clear = |fields: &[&str]| {
        let update = ["client", "update", id(&created), "--output=json"];
        place.json(
            &[&update[..], &fields.iter().flat_map(|field| ["--clear", field]).collect::<Vec<_>>()].concat(),
        )
    };
    clear(&["scope", "grant_types", "token_endpoint_auth_signing_alg", "id_token_signed_response_alg"]);
    clear(&[
        "require_pushed_authorization_requests",
        "dpop_bound_access_tokens",
        "post_logout_redirect_uris",
    ]);
    let cleared = clear(&[
        "backchannel_logout_uri",
        "client_uri",
        "logo_uri",
        "tos_uri",
        "policy_uri",
        "contacts",
        "application_type",
    ]);
    let defaults = json!({
        "client_name": "Photo Album",
        "redirect_uris": ["https://photos.example/cb"],
        "scope": "openid profile",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": "https://photos.example/jwks",
        "require_pushed_authorization_requests": false,
        "dpop_bound_access_tokens": false,
        "registered_by": "operator",
    });
    assert_eq!(registration(&cleared), defaults);
    let needed = place.run(&["client", "update", id(&created), "--clear", "jwks_uri"]);
    assert_eq!(
        said(&needed),
        "countersign: token_endpoint_auth_method private_key_jwt needs jwks or jwks_uri"
    );
    let needed = place.run(&["client", "update", id(&created), "--clear", "redirect_uris"]);
    assert_eq!((needed.code, said(&needed)), (2, "countersign: redirect_uris is missing"));
    let alone = ["--clear=redirect_uris", "--grant-type=client_credentials", "--output=json"];
    let alone = place.json(&[&["client", "update", id(&created)], &alone[..]].concat());
    assert_eq!((&alone["redirect_uris"], &alone["response_types"]), (&json!([]), &json!([])));
    let back =
        ["--redirect-uri=https://photos.example/cb", "--grant-type=authorization_code", "--output=json"];
    let back = place.json(&[&["client", "update", id(&created)], &back[..]].concat());
    assert_eq!(back["response_types"], json!(["code"]));
}

/// The first thing that goes wrong for a newcomer.
#[test]
fn who_names_no_scope_registers_what_openid_connect_needs() {
    let place = place();
    let created =
        place.run(&["client", "create", "--name", "Wiki", "--redirect-uri", "https://wiki.example/cb"]);
    assert!(created.code == 0 && created.out.contains(" openid profile\n"), "{created:?}");
}

#[test]
fn an_update_that_breaks_a_rule_changes_nothing() {
    let place = place();
    let created = create(&place, &[]);
    let update = |arguments: &[&str]| {
        let ended = place.run(&[&["client", "update", id(&created)], arguments].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
        // The first line of a mistake on the command line, the last of any other.
        if ended.err.starts_with("error: ") { ended.err } else { said(&ended).to_owned() }
    };
    let told = update(&["--redirect-uri", "http://photos.example/cb"]);
    assert!(told.starts_with("countersign: redirect_uris[0]: must be https, "), "{told}");
    let told = update(&["--redirect-uri", "http://localhost:8080/oauth/login"]);
    assert!(told.starts_with("countersign: redirect_uris[0]: "), "{told}");
    assert!(update(&["--name", "a\u{202e}b"]).starts_with("countersign: client_name must not hold "));
    assert!(update(&["--public"]).contains("cannot change between a secret, keys and none"));
    assert!(update(&["--application-type", "tv"]).contains("[possible values: web, native]"));
    assert!(
        update(&["--clear", "logo_uri", "--logo-uri", "https://a.example/"]).contains("exclude each other")
    );
    assert!(update(&["--clear", "client_name"]).contains("invalid value 'client_name'"));
    assert_eq!(
        update(&[]),
        "countersign: nothing to change: name a field, as in `client update ID --logo-uri URI`"
    );
    let unknown = "0197a1b2-0000-7000-8000-000000000001";
    let gone = place.run(&["client", "update", unknown, "--name", "x"]);
    assert_eq!((gone.code, said(&gone)), (1, &*format!("countersign: no client has the id {unknown}")));
    assert_eq!(registration(&show(&place, id(&created))), registration(&created));
}

#[test]
fn a_file_that_is_no_registration_is_refused_with_the_reason() {
    let place = place();
    let create = |text: &str| {
        fs::write(place.path("client.json"), text).unwrap();
        let ended = place.run(&["client", "create", "--from-file", "client.json"]);
        assert_eq!(ended.code, 2, "{ended:?}");
        said(&ended).to_owned()
    };
    assert!(create("{").starts_with("countersign: client.json is not JSON: "));
    assert!(create("[]").starts_with("countersign: client.json is not a JSON object"));
    assert_eq!(create("{}"), "countersign: client_name is missing");
    assert_eq!(create(r#"{"client_name": "x"}"#), "countersign: redirect_uris is missing");
    assert_eq!(create(r#"{"redirect_uris": "x"}"#), "countersign: redirect_uris must be a list of strings");
    assert_eq!(
        create(r#"{"redirect_uri": "x"}"#),
        "countersign: client.json names \"redirect_uri\": there is no such field; did you mean redirect_uris?"
    );
    let missing = place.run(&["client", "create", "--from-file", "missing.json"]);
    assert!(
        missing.code == 2 && said(&missing).starts_with("countersign: missing.json cannot be read: "),
        "{missing:?}"
    );
    assert_eq!(place.run(&["client", "list"]).out, "no clients\n");
}

/// Whoever wrote a file may be a stranger.
#[test]
fn a_file_opens_nothing_chooses_no_secret_and_people_hear_what_is_ignored() {
    let place = place();
    let file = json!({
        "client_name": "Photo Album",
        "redirect_uris": ["https://photos.example/cb"],
        "client_uri": "https://api.example",
        "client_secret": "a secret of my own",
        "registered_by": "operator",
        "resources": ["https://api.example"],
        "software_id": "x\u{9b}2J",
    });
    fs::write(place.path("client.json"), file.to_string()).unwrap();
    let create = ["client", "create", "--from-file", "client.json", "--output", "json"];
    let settings = [
        ("COUNTERSIGN_PUBLIC_URL", "https://auth.example"),
        ("COUNTERSIGN_RESOURCES", "https://api.example named"),
    ];
    let ended = place.run_with(&create, &settings);
    let created: Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{ended:?}"));
    assert!(
        created["resources"] == json!([]) && created["client_secret"] != "a secret of my own",
        "{created}"
    );
    for told in [
        "ignored: client_secret (the server makes secrets), \"software_id\"\n",
        "resources in the file are not opened to the client: name them with --resource\n",
        "by its client_uri, the client may introspect all tokens for https://api.example\n",
    ] {
        assert!(ended.err.contains(told), "{told}: {}", ended.err);
    }
    let update = ["client", "update", id(&created), "--from-file", "client.json"];
    let refused = place.run_with(&update, &settings);
    assert!(refused.code == 2 && refused.err.contains("`client open-resource`"), "{refused:?}");
}

/// ADR 0024: a replica may remember a client for a moment, and the command waits for that moment.
#[test]
fn a_running_server_uses_the_new_values_when_the_command_ends() {
    let place = Place::new();
    let mut server = Server::start(&place, &[]);
    let created = create(&place, &[]);
    let status = |redirect_uri: &str| authorize(&server, id(&created), redirect_uri);
    let (old, new) = ("https%3A%2F%2Fphotos.example%2Fcb", "https%3A%2F%2Fphotos.example%2Fnew");
    for (uri, more) in [("https://photos.example/new", (400, 302)), ("https://photos.example/cb", (302, 400))]
    {
        let update = ["client", "update", id(&created), "--redirect-uri", uri];
        // The server remembers the client as it was.
        assert_eq!((status(new), status(old)), (more.0, more.1));
        assert_eq!(place.run(&update).code, 0);
        assert_eq!((status(new), status(old)), (more.1, more.0));
    }
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
}

fn authorize(server: &Server, client_id: &str, redirect_uri: &str) -> u16 {
    let mut connection = TcpStream::connect(server.address).unwrap();
    let request = format!(
        "GET /oauth/authorize?client_id={client_id}&redirect_uri={redirect_uri}&response_type=code&scope=profile&state=x \
         HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// What `--output env` prints is all that a `.env` file should have: no table, no note, no registration token.
#[test]
fn a_new_client_is_printed_as_the_lines_of_an_env_file() {
    let place = place();
    let env = |arguments: &[&str]| {
        let begin = ["client", "create", "--name=Shop", "--output=env"];
        let ended = place.run(&[&begin[..], arguments].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let lines = ended.out.lines().map(|line| line.split_once('=').unwrap());
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let names = |lines: &[(String, String)]| lines.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let web = env(&["--redirect-uri=http://localhost:3000/callback"]);
    assert_eq!(names(&web), ["ISSUER", "CLIENT_ID", "CLIENT_SECRET", "APP_URL"]);
    assert_eq!((&*web[0].1, &*web[3].1), ("http://localhost:8080", "http://localhost:3000"));
    assert_eq!(show(&place, &web[1].1)["client_name"], "Shop");
    let app = env(&["--public", "--redirect-uri=com.example.shop:/cb"]);
    assert_eq!(names(&app), ["ISSUER", "CLIENT_ID"], "no secret, and no address");
    let known = env(&["--for=next-auth", "--url=http://localhost:3000"]);
    assert!(names(&known).contains(&"NEXTAUTH_URL".to_owned()), "its own variables: {known:?}");
    let other = env(&["--for=grafana", "--url=https://grafana.example"]);
    assert_eq!(
        names(&other),
        ["ISSUER", "CLIENT_ID", "CLIENT_SECRET", "APP_URL"],
        "its settings are not variables"
    );
}

/// A trial server shows what the client received; no other server has such a page.
#[test]
fn what_is_shown_of_a_client_leads_to_what_it_received() {
    let place = place();
    let client = create(&place, &[]);
    let line = format!("http://localhost:8080/playground/received?client_id={}", id(&client));
    assert!(place.run(&["client", "show", id(&client)]).out.contains(&line));
    let public = ["client", "show", id(&client), "--public-url=https://auth.example.com"];
    assert!(!place.run(&public).out.contains("/playground/received"));
}
