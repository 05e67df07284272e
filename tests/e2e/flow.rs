//! The eight steps of a sign-in, from the registration of a client to the revocation of its tokens.

use std::process::Command;

use countersign_tests::server::{binary, project};
use countersign_tests::site::{CODE_CHALLENGE, REDIRECT_URI, VERIFIER};
use countersign_tests::{Client, Request, Tokens, Wallet, on_both};
use serde_json::{Value, json};

on_both! {
    fn a_client_registers_and_a_person_signs_in_and_the_tokens_live_until_they_are_revoked(database) {
        let server = database.start();
        // 1. The client registers once.
        let registered = server.send(&Request::json(
            "/oauth/clients",
            &json!({"client_name": "Photo Album", "redirect_uris": [REDIRECT_URI], "scopes": ["profile", "email"]}),
        ));
        let client = countersign_tests::Site::client(&registered.expect(201));

        // 2. and 3. The user arrives and is redirected to the page.
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization().with("scope", "profile email");
        let begun = browser.authorize(&authorization).expect(302);
        assert_eq!(begun.location(), "/auth");
        let page = browser.send(Request::get("/auth")).expect(200);
        assert!(page.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")), "{page:?}");
        for shown in ["Photo Album", "client.example", "profile", "email"] {
            assert!(page.text().contains(shown), "the page shows {shown}");
        }
        let challenge = browser.challenge(&authorization, &wallet);

        // 4. The user signs and is redirected back with a code.
        let body = countersign_tests::Browser::login_body(&authorization, &wallet, &challenge);
        let signed_in = browser.login(&body).expect(303);
        assert!(signed_in.location().starts_with(&format!("{REDIRECT_URI}?")), "{signed_in:?}");
        assert_eq!(signed_in.answered(), ["code", "state", "iss"], "A-041");
        assert_eq!(signed_in.answer("state").as_deref(), Some(authorization.get("state")));
        assert_eq!(signed_in.answer("iss").as_deref(), Some(server.public_url.as_str()));

        // 5. The client exchanges the code.
        let code = signed_in.answer("code").unwrap();
        let exchanged = server.exchange(&client, &code).expect(200);
        assert_eq!(exchanged.field("token_type"), "Bearer");
        assert_eq!(exchanged.json()["expires_in"], json!(3600));
        assert_eq!(exchanged.field("scope"), "profile email");
        let tokens = Tokens::of(exchanged);
        assert_eq!(tokens.access.split('.').count(), 3, "JWT-shaped");

        // 6. The client asks who signed in.
        let user = server.userinfo(&tokens.access).expect(200);
        assert_user(&user.json(), &wallet);

        // 7. The client refreshes.
        let refreshed = Tokens::of(server.refresh(&client, &tokens.refresh));
        assert_ne!(refreshed, tokens);
        assert_eq!(server.userinfo(&refreshed.access).expect(200).json(), user.json());

        // 8. The client revokes.
        let revoked = server.revoke(&client, &refreshed.refresh).expect(200);
        assert_eq!(revoked.json(), json!({}));
        for access in [&tokens.access, &refreshed.access] {
            assert_eq!(server.userinfo(access).verdict(), "401 invalid_token");
        }
        assert_eq!(server.refresh(&client, &refreshed.refresh).verdict(), "400 invalid_grant");
    }

    fn a_public_client_signs_people_in_with_pkce_and_without_a_secret(database) {
        let server = database.start();
        let client = server.register_public();
        assert_eq!(client.secret, None);
        let tokens = server.tokens(&client);
        assert_eq!(server.userinfo(&tokens.access).status, 200);
        let refreshed = Tokens::of(server.refresh(&client, &tokens.refresh));
        assert_eq!(server.revoke(&client, &refreshed.refresh).status, 200);
        assert_eq!(server.userinfo(&refreshed.access).verdict(), "401 invalid_token");
    }

    /// The OAuth 2.1 form of the request, in which `state` and `scope` are optional.
    fn a_client_with_pkce_signs_people_in_without_a_state(database) {
        let server = database.start();
        let client = server.register_public();
        let authorization = client.authorization().without("state").without("scope");
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let body = browser.prepare_with(&authorization, &wallet);
        let signed_in = browser.login(&body).expect(303);
        assert_eq!(signed_in.answered(), ["code", "iss"]);
        let exchanged = server.exchange(&client, &signed_in.answer("code").unwrap()).expect(200);
        assert_eq!(exchanged.field("scope"), "openid profile offline_access", "everything that it registered");
    }

    /// A-082, B-030: `sub` depends only on the wallet, not on the client or on how the address is written.
    fn one_wallet_is_one_user_for_every_client_and_in_every_spelling(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let subject = |client: &Client| {
            let code = server.browser().sign_in(client, &wallet);
            let tokens = Tokens::of(server.exchange(client, &code));
            server.userinfo(&tokens.access).expect(200).field("sub")
        };
        let first = subject(&server.register());
        assert_eq!(subject(&server.register()), first);

        let client = server.register();
        let mut browser = server.browser();
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let lower = wallet.address().to_lowercase();
        let issued = browser.send(countersign_tests::Browser::challenge_request(&authorization, &lower)).expect(200);
        assert_eq!(issued.field("wallet_address"), wallet.address(), "the canonical form");
        assert_eq!(issued.field("chain"), "eip155:1");
        let body = countersign_tests::Browser::login_body(&authorization, &wallet, &issued.field("challenge"));
        let code = browser.login(&body.with("wallet_address", &lower)).expect(303).answer("code").unwrap();
        let tokens = Tokens::of(server.exchange(&client, &code));
        assert_eq!(server.userinfo(&tokens.access).field("sub"), first);
    }

    /// How the page does it (A-051): `Accept: application/json`, because a script cannot follow the redirect.
    fn a_script_is_told_where_to_go_instead_of_being_sent_there(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let body = browser.prepare(&client, &Wallet::fresh());
        let answer = browser
            .send(Request::json("/oauth/login", &body.json()).header("Accept", "application/json"))
            .expect(200);
        let target = url::Url::parse(&answer.field("redirect_to")).unwrap();
        let code = target.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        assert_eq!(server.exchange(&client, &code).status, 200);
    }

    /// The page without JavaScript: only forms.
    fn a_person_signs_in_by_forms_alone(database) {
        let server = database.start();
        let client = server.register();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let asked = client_fields(&authorization).with("wallet_address", &wallet.address());
        let page = browser.send(Request::form("/oauth/challenge", &asked).header("Accept", "text/html")).expect(200);
        let challenge = shown_challenge(&page.text());
        let body = countersign_tests::Browser::login_body(&authorization, &wallet, &challenge);
        let signed_in = browser.send(Request::form("/oauth/login", &body).header("Accept", "text/html"));
        let target = match signed_in.status {
            303 => signed_in.location().to_owned(),
            _ => unescape(signed_in.clone().expect(200).text().split("url=").nth(1).unwrap().split('"').next().unwrap()),
        };
        let target = url::Url::parse(&target).unwrap_or_else(|error| panic!("{error}: {target}"));
        let code = target.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        assert_eq!(server.exchange(&client, &code).status, 200);
    }

    /// Terra and Terra Classic have the same address format, so the caller names the chain, in one of three
    /// ways.
    fn an_address_of_several_chains_needs_its_chain(database) {
        const TERRA: &str = "terra1x46rqay4d3cssq8gxxvqz8xt6nwlz4td20k38v";
        const CLASSIC: &str = "cosmos:columbus-5";
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let asked = client_fields(&authorization).with("wallet_address", TERRA);
        let json = |fields: &countersign_tests::Parameters| Request::json("/oauth/challenge", &fields.json());
        let refused = browser.send(json(&asked)).expect(400).field("error_description");
        for chain in ["cosmos:phoenix-1 (Terra)", "cosmos:columbus-5 (Terra Classic)"] {
            assert!(refused.contains(chain), "{refused}");
        }
        let form = |fields| Request::form("/oauth/challenge", fields).header("Accept", "text/html");
        let page = browser.send(form(&asked)).expect(400).text();
        assert!(page.contains(r#"<select id="chain" name="chain""#) && page.contains(CLASSIC), "{page}");
        assert!(page.contains(TERRA), "the address stays in its field");
        let chosen = browser.send(form(&asked.clone().with("chain", CLASSIC))).expect(200).text();
        assert!(chosen.contains("Terra Classic account:"), "{chosen}");
        let named = browser.send(json(&asked.clone().with("chain", CLASSIC))).expect(200);
        assert_eq!((named.field("chain"), named.field("wallet_address")), (CLASSIC.to_owned(), TERRA.to_owned()));
        let behind = client_fields(&authorization).with("wallet_address", &format!("{CLASSIC}:{TERRA}"));
        assert_eq!(browser.send(json(&behind)).expect(200).field("chain"), CLASSIC);
        let contradiction = behind.with("chain", "cosmos:phoenix-1");
        assert_eq!(browser.send(json(&contradiction)).verdict(), "400 invalid_request");
    }

    /// A-043: the client is told, and gets its state back.
    fn a_person_who_denies_is_sent_back_with_access_denied(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let denied = browser.press(Request::form("/oauth/deny", &client_fields(&authorization))).expect(303);
        assert_eq!(denied.answer("error").as_deref(), Some("access_denied"));
        assert_eq!(denied.answer("state").as_deref(), Some(authorization.get("state")));
        assert_eq!(denied.answer("iss").as_deref(), Some(server.public_url.as_str()));
        assert_eq!(browser.send(Request::get("/auth")).status, 400, "the request is no longer pending");
    }

    /// The script in the documentation, word for word.
    fn the_documented_walk_with_curl_works(database) {
        let server = database.start();
        let script = project().join("docs/eight-steps.sh");
        let output = Command::new("bash")
            .arg(&script)
            .env("BASE", &server.public_url)
            .env("COUNTERSIGN", binary())
            .current_dir(database.folder())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {}\n{said}\n{complained}", script.display(), output.status);
        for step in 1..=8 {
            assert!(said.contains(&format!("\n{step}. ")) || said.starts_with(&format!("{step}. ")), "step {step}:\n{said}");
        }
    }
}

#[test]
fn the_pair_of_rfc_7636_is_what_the_harness_uses() {
    assert_eq!((VERIFIER.len(), CODE_CHALLENGE.len()), (43, 43));
}

fn assert_user(user: &Value, wallet: &Wallet) {
    let sub = user["sub"].as_str().unwrap();
    assert_eq!(sub.len(), 36, "UUID form: {user}");
    assert_eq!(user["address"], json!(wallet.address()));
    assert_eq!(user["wallet_address"], json!(wallet.address()));
    assert_eq!(user["wallet_account"], json!(format!("eip155:1:{}", wallet.address())));
    assert_eq!(user["preferred_username"], json!(format!("User_{}", &sub[..8])));
    assert_eq!(user.as_object().unwrap().len(), 5, "A-086: no e-mail is invented: {user}");
}

fn client_fields(authorization: &countersign_tests::Parameters) -> countersign_tests::Parameters {
    authorization.clone().without("response_type").without("scope")
}

/// The text in the page's attribute `data-challenge`.
fn shown_challenge(page: &str) -> String {
    let text =
        page.split("data-challenge=\"").nth(1).unwrap_or_else(|| panic!("there is no challenge in {page}"));
    unescape(text.split('"').next().unwrap())
}

/// Undoes the escapes of an attribute's value.
fn unescape(text: &str) -> String {
    let mut plain = text.to_owned();
    for (escape, character) in [
        ("&#x2F;", "/"),
        ("&#x27;", "'"),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#10;", "\n"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(escape, character);
    }
    plain
}
