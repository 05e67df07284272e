//! Resources with scopes of the operator's own: declared at the command line while two replicas serve, signed for in a
//! browser, checked offline and by introspection.

use std::process::{Command, Output};

use countersign_tests::jose::claims_of;
use countersign_tests::server::{OPERATOR_SECRET, binary};
use countersign_tests::{Client, Database, Parameters, Request, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

use crate::remembering::{remember, state_of};

const PHOTOS: &str = "https://photos.example.com/api";
const PAY: &str = "https://pay.example.com/api";

fn resource(database: &Database, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.current_dir(database.folder()).env("COUNTERSIGN_DATABASE_URL", database.url());
    command.arg("resource").args(arguments).args(["--output", "json"]);
    if database.is_postgres() {
        command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
    }
    command.output().unwrap()
}

#[track_caller]
fn done(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn refused(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn declare(database: &Database) {
    let photos =
        ["create", PHOTOS, "--scope", "photos.read=See your <b>photos</b>", "--scope", "photos.write"];
    let german = ["--title", "de:photos.read=Deine Fotos sehen"];
    done(&resource(database, &[&photos[..], &german].concat()));
    done(&resource(
        database,
        &["create", PAY, "--open-to", "named", "--scope", "pay.read=See your payslips"],
    ));
}

fn asks_for(client: &Client, scope: &str) -> Parameters {
    client.authorization().with("scope", scope)
}

fn code_for(site: &Site, client: &Client, wallet: &Wallet, scope: &str) -> String {
    site.browser().sign_in_with(&asks_for(client, scope), wallet)
}

fn introspected(site: &Site, api: &Value, token: &str) -> Value {
    let form = Parameters::of(&[("token", token)]);
    let (id, secret) = (api["client_id"].as_str().unwrap(), api["client_secret"].as_str().unwrap());
    site.send(&Request::form("/oauth/introspect", &form).basic(id, secret)).expect(200).json()
}

on_both! {
    fn scopes_of_a_resource_go_from_the_command_line_to_the_api(database) {
        let first = database.start();
        let second = first.replica();
        declare(database);
        let scopes = "openid photos.read";
        let client = second.register_with(&json!({"scope": scopes}));
        let metadata = second.get("/.well-known/oauth-authorization-server").expect(200).json();
        let supported: Vec<&str> =
            metadata["scopes_supported"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(supported.contains(&"photos.read") && !supported.contains(&"pay.read"), "{supported:?}");

        let wallet = Wallet::fresh();
        let mut browser = first.browser();
        let asked = asks_for(&client, scopes);
        browser.authorize(&asked).expect(302);
        let page = browser.send(Request::get("/auth").header("Accept-Language", "de")).expect(200).text();
        assert!(page.contains("Deine Fotos sehen") && page.contains("photos.example.com"), "{page}");
        let page = browser.send(Request::get("/auth").header("Accept-Language", "en")).expect(200).text();
        assert!(page.contains("See your &lt;b&gt;photos"), "{page}");
        let challenge = browser.challenge(&asked, &wallet);
        assert!(challenge.contains("\n- urn:countersign:scope:photos.read\n"), "{challenge}");
        assert!(challenge.contains(&format!("\n- {PHOTOS}")), "{challenge}");

        let code = code_for(&first, &client, &wallet, scopes);
        let tokens = Tokens::of(second.exchange(&client, &code));
        let claims = claims_of(&tokens.access);
        assert_eq!(claims["aud"], json!([PHOTOS, first.public_url.as_str()]));
        assert_eq!(claims["scope"], "openid photos.read");
        let api = database.create_client(&["--grant-type", "client_credentials", "--client-uri", PHOTOS]);
        let facts = introspected(&first, &api, &tokens.access);
        assert_eq!((&facts["active"], &facts["scope"]), (&json!(true), &json!("openid photos.read")));
        let pay = database.create_client(&["--grant-type", "client_credentials", "--client-uri", PAY]);
        assert_eq!(introspected(&second, &pay, &tokens.access), json!({"active": false}));
    }

    fn nobody_gets_what_the_operator_did_not_open(database) {
        let server = database.start();
        declare(database);
        for scope in ["pay.read", "OpenID", "openid\u{a0}", "photos.nothing", "photos.read\u{200b}"] {
            let metadata = json!({"client_name": "A", "redirect_uris": ["https://a.example/cb"], "scopes": [scope]});
            let answer = server.send(&Request::json("/oauth/clients", &metadata));
            assert_eq!(answer.expect(201).field("scope"), "profile", "{scope} counts as absent");
        }
        let client = server.register_with(&json!({"scope": "openid photos.read photos.write"}));
        let wallet = Wallet::fresh();
        let answered = |parameters: Parameters| server.browser().authorize(&parameters).answer("error").unwrap();
        assert_eq!(answered(asks_for(&client, "pay.read")), "invalid_scope");
        assert_eq!(answered(asks_for(&client, "photos.read").with("resource", PAY)), "invalid_target");
        let two = asks_for(&client, "photos.read").with("resource", PHOTOS).with("audience", PAY);
        assert_eq!(answered(two), "invalid_target");

        let code = code_for(&server, &client, &wallet, "photos.read");
        let tokens = Tokens::of(server.exchange(&client, &code));
        assert_eq!(claims_of(&tokens.access)["aud"], PHOTOS);
        let refresh = tokens.refresh;
        for scope in ["photos.write", "photos.read photos.write", "pay.read"] {
            let widened = client.refresh_form(&refresh).with("scope", scope);
            assert_eq!(server.token(&widened).verdict(), "400 invalid_scope", "{scope}");
        }
        let other = client.refresh_form(&refresh).with("audience", PAY);
        assert_eq!(server.token(&other).verdict(), "400 invalid_target");
        let same = Tokens::of(server.token(&client.refresh_form(&refresh).with("audience", PHOTOS)));
        assert_eq!(claims_of(&same.access)["scope"], "photos.read");
    }

    fn a_client_by_itself_has_the_scopes_that_the_operator_gave_it(database) {
        let first = database.start();
        let second = first.replica();
        declare(database);
        let nightly = database.create_client(&["--grant-type", "client_credentials", "--scope", "pay.read"]);
        let ask = |site: &Site, scope: &str| {
            let form = Parameters::of(&[("grant_type", "client_credentials"), ("scope", scope)]);
            let (id, secret) = (nightly["client_id"].as_str().unwrap(), nightly["client_secret"].as_str().unwrap());
            site.send(&Request::form("/oauth/token", &form).basic(id, secret))
        };
        let token = ask(&second, "pay.read").expect(200).field("access_token");
        let claims = claims_of(&token);
        assert_eq!((&claims["aud"], &claims["scope"]), (&json!(PAY), &json!("pay.read")));
        assert_eq!(ask(&first, "photos.read").verdict(), "400 invalid_scope");
        assert_eq!(ask(&first, "profile").verdict(), "400 invalid_scope");
    }

    fn after_a_deletion_no_replica_issues_a_token_for_it(database) {
        let first = database.start();
        let second = first.replica();
        declare(database);
        let client = first.register_with(&json!({"scope": "openid photos.read"}));
        let wallet = Wallet::fresh();
        let alone = Tokens::of(first.exchange(&client, &code_for(&first, &client, &wallet, "photos.read")));
        let both = Tokens::of(first.exchange(&client, &code_for(&first, &client, &wallet, "openid photos.read")));
        let signed = code_for(&second, &client, &wallet, "photos.read");
        let says = refused(&resource(database, &["delete", PHOTOS]), 1);
        assert!(says.contains("--force") && says.contains("1 clients and 3 live grants"), "{says}");
        let says = refused(&resource(database, &["delete", "https://photo.example.com/api"]), 1);
        assert!(says.contains(&format!("did you mean {PHOTOS}?")), "{says}");
        done(&resource(database, &["delete", PHOTOS, "--force"]));
        for site in [&first, &second] {
            assert_eq!(site.exchange(&client, &signed).verdict(), "400 invalid_target");
            let refresh = &alone.refresh;
            assert_eq!(site.refresh(&client, refresh).verdict(), "400 invalid_target");
        }
        let rest = Tokens::of(second.refresh(&client, &both.refresh));
        let claims = claims_of(&rest.access);
        assert_eq!((&claims["aud"], &claims["scope"]), (&json!(second.public_url.as_str()), &json!("openid")));
        assert_eq!(done(&resource(database, &["list"])).as_array().unwrap().len(), 1);
    }

    fn a_remembered_sign_in_repeats_what_was_signed_and_no_more(database) {
        let server = database.start();
        declare(database);
        let client = server.register_with(&json!({"scope": "photos.read photos.write"}));
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        remember(&mut browser, &asks_for(&client, "photos.read"), &wallet);
        browser.authorize(&asks_for(&client, "photos.read").with("state", "2")).expect(302);
        assert_eq!(state_of(&mut browser, "/auth"), "remembered");
        let more = asks_for(&client, "photos.read photos.write").with("state", "3");
        browser.authorize(&more).expect(302);
        assert_eq!(state_of(&mut browser, "/auth"), "step-up");
    }
}
