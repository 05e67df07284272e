//! Clients without users, and users without browsers: client credentials and headless login.

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::server::{binary, project};
use countersign_tests::{Client, Parameters, Request, Response, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

const WALLET_SIGNATURE: &str = "urn:countersign:params:oauth:grant-type:wallet-signature";

on_both! {
    fn a_client_gets_a_token_for_itself(database) {
        let server = database.start();
        let client = server.register_with(&json!({
            "grant_types": ["client_credentials"], "redirect_uris": [], "response_types": [],
        }));
        let answer = ask(&server, &client, &[("resource", "https://api.example")]).expect(200);
        let mut fields: Vec<String> = answer.json().as_object().unwrap().keys().cloned().collect();
        fields.sort();
        assert_eq!(fields, ["access_token", "expires_in", "token_type"], "A-059: no refresh token, no scope");
        let access = answer.field("access_token");
        let claims = claims(&access);
        assert_eq!((claims["sub"].as_str(), claims["client_id"].as_str()), (Some(&*client.id), Some(&*client.id)));
        assert_eq!(claims["aud"], json!("https://api.example"));
        assert_eq!(server.userinfo(&access).verdict(), "401 invalid_token", "F-09: it is only for the resource");
        let for_us = ask(&server, &client, &[]).expect(200).field("access_token");
        assert_eq!(server.userinfo(&for_us).verdict(), "403 insufficient_scope");
        server.revoke(&client, &access).expect(200);
        assert_eq!(server.userinfo(&access).verdict(), "401 invalid_token");
    }

    /// deleting the client deletes its tokens.
    fn a_018_a_removed_client_has_no_tokens_of_its_own(database) {
        let server = database.start();
        let client = server.register_with(&json!({"grant_types": ["client_credentials", "authorization_code"]}));
        let access = ask(&server, &client, &[]).expect(200).field("access_token");
        let path = format!("/oauth/clients/{}", client.id);
        assert_eq!(server.send(&Request::new("DELETE", &path).bearer(&client.registration_token)).status, 204);
        assert_eq!(server.userinfo(&access).verdict(), "401 invalid_token");
    }

    fn what_a_client_may_not_have_for_itself_is_refused(database) {
        let server = database.start();
        let client = server.register_with(&json!({"grant_types": ["client_credentials"]}));
        assert_eq!(ask(&server, &client, &[("scope", "profile")]).verdict(), "400 invalid_scope");
        assert_eq!(ask(&server, &client, &[("resource", "api")]).verdict(), "400 invalid_target");
        assert_eq!(ask(&server, &server.register(), &[]).verdict(), "400 unauthorized_client");
        assert_eq!(ask(&server, &Client { secret: None, ..client.clone() }, &[]).verdict(), "422 invalid_request");
        let wrong = Client { secret: Some("wrong".to_owned()), ..client.clone() };
        assert_eq!(ask(&server, &wrong, &[]).verdict(), "401 invalid_client");
        let refused = server.browser().authorize(&client.authorization()).expect(302);
        assert_eq!(refused.answer("error").as_deref(), Some("unauthorized_client"), "A-037: users cannot sign in to this client");
    }

    fn only_a_client_with_a_credential_registers_for_it(database) {
        let server = database.start();
        let registered = |metadata: &Value| server.send(&Site::registration(metadata)).verdict();
        for grant_type in ["client_credentials", WALLET_SIGNATURE] {
            let public = json!({"grant_types": [grant_type], "token_endpoint_auth_method": "none"});
            assert_eq!(registered(&public), "400 invalid_client_metadata");
            let redirected = json!({"grant_types": [grant_type, "authorization_code"], "redirect_uris": []});
            assert_eq!(registered(&redirected), "400 invalid_redirect_uri");
        }
        assert_eq!(registered(&json!({"redirect_uris": []})), "400 invalid_redirect_uri");
    }

    fn a_program_signs_a_wallet_in_without_a_browser(database) {
        let server = database.start();
        let client = program(&server);
        let wallet = Wallet::fresh();
        let challenge = text(&server, &client, &wallet);
        let answer = redeem(&server, &client, &challenge, &wallet.sign(&challenge)).expect(200);
        assert_eq!(answer.field("scope"), "openid profile");
        let id_token = claims(&answer.field("id_token"));
        assert_eq!((&id_token["amr"], &id_token["aud"]), (&json!(["wallet"]), &json!(client.id)));
        let user = server.userinfo(&answer.field("access_token")).expect(200);
        assert_eq!(user.field("wallet_address"), wallet.address());
        assert_eq!(id_token["sub"].as_str(), Some(&*user.field("sub")));
        let refreshed = Tokens::of(server.refresh(&client, &answer.field("refresh_token")));

        let code = server.browser().sign_in(&server.register(), &wallet);
        assert_eq!(code.len(), code.trim().len(), "the same user can also sign in on the page");
        server.revoke(&client, &refreshed.refresh).expect(200);
        assert_eq!(server.userinfo(&refreshed.access).verdict(), "401 invalid_token");
    }

    /// A-054, B-001 to B-006: a text is for one client and one wallet, and works once.
    fn a_054_a_programs_text_works_once_and_for_nobody_else(database) {
        let server = database.start();
        let (client, other) = (program(&server), program(&server));
        let (wallet, stranger) = (Wallet::fresh(), Wallet::fresh());
        let challenge = text(&server, &client, &wallet);
        let signature = wallet.sign(&challenge);
        assert_eq!(redeem(&server, &other, &challenge, &signature).verdict(), "400 invalid_grant", "B-003");
        let refused = redeem(&server, &client, &challenge, &stranger.sign(&challenge));
        assert_eq!(refused.field("error_description"), "Failed to verify signature", "B-006");
        let changed = challenge.replace("scope:profile", "scope:email");
        assert_eq!(redeem(&server, &client, &changed, &wallet.sign(&changed)).verdict(), "400 invalid_grant", "B-004");
        let named = |address: &str| {
            server.token(&form(&client, &challenge, &signature).with("wallet_address", address))
        };
        assert_eq!(named(&stranger.address()).verdict(), "400 invalid_grant");
        let tokens = Tokens::of(named(&wallet.address().to_lowercase()));
        let again = redeem(&server, &client, &challenge, &signature);
        assert_eq!(again.field("error_description"), "Challenge is not valid or has expired", "B-001");
        assert_eq!(server.userinfo(&tokens.access).status, 200);
    }

    /// B-002, in both directions.
    fn b_002_pages_and_programs_do_not_take_each_others_texts(database) {
        let server = database.start();
        let client = server.register_with(&json!({
            "grant_types": ["authorization_code", "refresh_token", WALLET_SIGNATURE], "scope": "openid profile",
        }));
        let wallet = Wallet::fresh();
        let mut browser = server.browser();
        let body = browser.prepare(&client, &wallet);
        let (challenge, signature) = (body.get("challenge"), body.get("signature"));
        assert_eq!(redeem(&server, &client, challenge, signature).verdict(), "400 invalid_grant");
        let programs = text(&server, &client, &wallet);
        let swapped = body.clone().with("challenge", &programs).with("signature", &wallet.sign(&programs));
        assert_eq!(browser.login(&swapped).verdict(), "401 access_denied");
        browser.login(&body).expect(303);
    }

    /// The `code` of this grant is the signed text, which is not an authorization code.
    fn a_programs_text_is_no_code(database) {
        let server = database.start();
        let client = server.register_with(&json!({"grant_types": ["authorization_code", WALLET_SIGNATURE]}));
        let wallet = Wallet::fresh();
        let challenge = text(&server, &client, &wallet);
        redeem(&server, &client, &challenge, &wallet.sign(&challenge)).expect(200);
        assert_eq!(server.exchange(&client, &challenge).verdict(), "400 invalid_grant");
    }

    /// the text expires.
    fn a_050_a_programs_text_ends(database) {
        let server = database.server().with_env("COUNTERSIGN_CHALLENGE_TTL", "1").start();
        let (client, wallet) = (program(&server), Wallet::fresh());
        let challenge = text(&server, &client, &wallet);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(redeem(&server, &client, &challenge, &wallet.sign(&challenge)).verdict(), "400 invalid_grant");
    }

    fn without_a_session_only_a_program_gets_a_text(database) {
        let server = database.start();
        let (client, other) = (program(&server), server.register());
        let wallet = Wallet::fresh();
        let ask = |body: Value| server.send(&Request::json("/oauth/challenge", &body));
        let missing = "Missing or expired OAuth session";
        assert_eq!(ask(json!({"wallet_address": wallet.address()})).field("error_description"), missing);
        let pending = json!({"wallet_address": wallet.address(), "client_id": client.id, "redirect_uri": "https://client.example/cb"});
        assert_eq!(ask(pending).field("error_description"), missing);
        let by = |id: &str| ask(json!({"wallet_address": wallet.address(), "client_id": id})).verdict();
        assert_eq!(by(&other.id), "400 unauthorized_client");
        assert_eq!(by("nobody"), "400 invalid_client");
        assert_eq!(by(&client.id), "200");
        let form = Parameters::of(&[("client_id", &client.id), ("wallet_address", &wallet.address())]);
        assert_eq!(server.send(&Request::form("/oauth/challenge", &form)).field("error_description"), missing);
        assert_eq!(ask(json!({"wallet_address": "nobody", "client_id": client.id})).verdict(), "400 invalid_request");
    }

    /// The script in the documentation, word for word.
    fn the_documented_headless_walk_works(database) {
        let server = database.start();
        let output = Command::new("bash")
            .arg(project().join("docs/headless.sh"))
            .env("BASE", &server.public_url)
            .env("COUNTERSIGN", binary())
            .current_dir(database.folder())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("wallet_address"), "{said}");
    }

    /// the text says that it lets a program sign in.
    fn the_text_says_that_a_program_asks(database) {
        let server = database.start();
        let client = program(&server);
        let text = text(&server, &client, &Wallet::fresh());
        assert!(text.contains("\nLet a program act as me here, without a browser: "), "{text}");
        assert!(text.contains(&format!("\nURI: {}/oauth/token\n", server.public_url)), "{text}");
        assert!(text.contains(&format!("\n- urn:countersign:client:{}\n", client.id)), "{text}");
    }
}

/// B-076: wrong signatures count towards the same limit as logins.
#[test]
fn b_076_signatures_of_programs_are_counted_like_logins() {
    let server =
        countersign_tests::Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on").start();
    let (client, wallet) = (program(&server), Wallet::fresh());
    let challenge = text(&server, &client, &wallet);
    let answers = (0..70).map(|_| redeem(&server, &client, &challenge, "0x00").status);
    assert!(answers.into_iter().any(|status| status == 429));
}

fn program(site: &Site) -> Client {
    site.register_with(&json!({"grant_types": [WALLET_SIGNATURE, "refresh_token"], "redirect_uris": [], "scope": "openid profile"}))
}

fn text(site: &Site, client: &Client, wallet: &Wallet) -> String {
    let body = json!({"client_id": client.id, "wallet_address": wallet.address()});
    site.send(&Request::json("/oauth/challenge", &body)).expect(200).field("challenge")
}

fn form(client: &Client, challenge: &str, signature: &str) -> Parameters {
    let form = Parameters::of(&[
        ("grant_type", WALLET_SIGNATURE),
        ("challenge", challenge),
        ("signature", signature),
    ]);
    let form = form.with("client_id", &client.id);
    form.with("client_secret", client.secret.as_deref().unwrap())
}

fn redeem(site: &Site, client: &Client, challenge: &str, signature: &str) -> Response {
    site.token(&form(client, challenge, signature))
}

/// The client requests a token of its own.
fn ask(site: &Site, client: &Client, more: &[(&str, &str)]) -> Response {
    let form = Parameters::of(more).with("grant_type", "client_credentials").with("client_id", &client.id);
    match &client.secret {
        Some(secret) => site.token(&form.with("client_secret", secret)),
        None => site.token(&form),
    }
}

/// The claims of a JWT, without verifying it.
fn claims(jwt: &str) -> Value {
    let payload = jwt.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}
