//! Clients, codes, tokens and revocation: the cases that are not in a table.

use countersign_tests::{Database, Request, Server, Site, Tokens, Wallet, on_both};
use serde_json::json;

/// A server that others reach too: there nobody hears more than a stranger may.
fn public(database: &Database) -> Server {
    let settings = database.server().with_public_url("https://auth.example.com");
    settings.with_env("COUNTERSIGN_REGISTRATION", "open").start()
}

on_both! {
    /// the response to a registration contains all metadata of the client.
    fn a_011_a_registration_is_answered_with_everything(database) {
        let server = database.start();
        let registered = server.send(&Site::registration(&json!({"scope": "profile email"}))).expect(201);
        let body = registered.json();
        assert_eq!(registered.field("client_id").len(), 36);
        let secret = registered.field("client_secret");
        assert!(secret.len() >= 43 && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(body["client_secret_expires_at"], json!(0));
        assert_eq!(body["scopes"], json!(["profile", "email"]));
        assert_eq!(body["scope"], json!("profile email"));
        assert_eq!(body["response_types"], json!(["code"]));
        assert_eq!(body["grant_types"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(body["token_endpoint_auth_method"], json!("client_secret_post"));
        assert!(body["client_id_issued_at"].is_i64() && registered.field("created_at").ends_with('Z'), "{body}");
        let configuration = registered.field("registration_client_uri");
        assert_eq!(configuration, format!("{}/oauth/clients/{}", server.public_url, registered.field("client_id")));
        assert!(body.get("client_uri").is_none() && body.get("logo_uri").is_none(), "no nulls: {body}");
    }

    ///
    fn a_017_the_configuration_never_shows_the_secret_again(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register());
        let path = format!("/oauth/clients/{}", client.id);
        let read = server.send(&Request::get(&path).bearer(&client.registration_token)).expect(200);
        assert!(!read.text().contains(client.secret.as_deref().unwrap()), "{read:?}");
        for token in ["", "wrong", &other.registration_token, client.secret.as_deref().unwrap()] {
            for method in ["GET", "DELETE"] {
                assert_eq!(server.send(&Request::new(method, &path).bearer(token)).verdict(), "401 invalid_token");
            }
        }
    }

    /// deleting a client deletes everything that users granted it.
    fn a_018_a_removed_client_is_dead_with_all_its_tokens_and_codes(database) {
        let server = database.start();
        let client = server.register();
        let (tokens, code) = (server.tokens(&client), server.sign_in(&client));
        let mut browser = server.browser();
        let body = browser.prepare(&client, &Wallet::fresh());
        let path = format!("/oauth/clients/{}", client.id);
        let removed = server.send(&Request::new("DELETE", &path).bearer(&client.registration_token));
        assert_eq!(removed.status, 204, "{removed:?}");
        assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token");
        assert_eq!(server.refresh(&client, &tokens.refresh).verdict(), "401 invalid_client");
        assert_eq!(server.exchange(&client, &code).verdict(), "401 invalid_client");
        assert_eq!(browser.login(&body).field("error_description"), "Invalid client_id");
        assert_eq!(server.browser().authorize(&client.authorization()).field("error_description"), "Invalid client_id");
    }

    ///
    fn a_059_a_token_answer_holds_what_the_specification_says_and_nothing_else(database) {
        let server = database.start();
        let client = server.register();
        let answer = server.exchange(&client, &server.sign_in(&client)).expect(200);
        let mut names: Vec<String> = answer.json().as_object().unwrap().keys().cloned().collect();
        names.sort();
        assert_eq!(names, ["access_token", "expires_in", "refresh_token", "scope", "token_type"]);
        assert_eq!(answer.header("Content-Type"), Some("application/json"));
    }

    /// an unknown client and a wrong secret get the same body.
    fn a_062_an_unknown_client_and_a_wrong_secret_are_told_the_same(database) {
        let server = public(database);
        let client = server.register();
        let form = client.exchange_form("x");
        let unknown = server.token(&form.clone().with("client_id", "0199b1f0-0000-7000-8000-000000000000"));
        let wrong = server.token(&form.clone().with("client_secret", "wrong"));
        assert_eq!((unknown.status, unknown.text()), (wrong.status, wrong.text()));
        assert_eq!(wrong.header("WWW-Authenticate"), None, "Basic was not tried");
        let stranger = form.clone().without("client_secret").with("client_id", "0199b1f0-0000-7000-8000-000000000000");
        let (nobody, somebody) = (server.token(&stranger), server.token(&form.without("client_secret")));
        assert_eq!((nobody.status, nobody.text()), (somebody.status, somebody.text()), "A-062");
    }

    /// nobody learns whether a code is known, was used, or is another client's.
    fn a_064_every_code_that_may_be_stolen_gets_the_same_answer(database) {
        let server = public(database);
        let (client, other) = (server.register(), server.register());
        let (used, good) = (server.sign_in(&client), server.sign_in(&client));
        server.exchange(&client, &used).expect(200);
        let changed = format!("{}{}", &good[..63], if good.ends_with('A') { "Q" } else { "A" });
        let stolen = [
            server.exchange(&client, &used),
            server.exchange(&other, &good),
            server.exchange(&other, &used),
            server.exchange(&client, &changed),
        ];
        let malformed = [
            server.exchange(&client, "unknown"),
            server.exchange(&client, &good[..63]),
            server.exchange(&client, &format!("{good}A")),
        ];
        for (answers, begins) in [(&stolen[..], "authorization code is not valid: "), (&malformed[..], "code does not look like ")] {
            let bodies: Vec<_> = answers.iter().map(|answer| (answer.status, answer.text())).collect();
            assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
            assert!(answers[0].field("error_description").starts_with(begins), "{bodies:?}");
        }
        let elsewhere = server.token(&client.exchange_form(&good).with("redirect_uri", "https://client.example/"));
        assert!(elsewhere.field("error_description").starts_with("redirect_uri is not the one "), "{elsewhere:?}");
        assert_eq!(server.exchange(&client, &good).status, 200, "A-066: none of them used it up");
    }

    ///
    fn a_081_a_truncated_or_changed_refresh_token_is_none(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let whole = &tokens.refresh;
        let changed = format!("{}{}", &whole[..whole.len() - 2], if whole.ends_with("AA") { "BA" } else { "AA" });
        for token in [&whole[..whole.len() - 1], &whole[1..], &changed, &format!("{whole}A"), &whole.to_uppercase()] {
            assert_eq!(server.refresh(&client, token).verdict(), "400 invalid_grant");
        }
        assert_eq!(server.refresh(&client, whole).status, 200);
    }

    /// a token with any change is refused, and so is one without our signature.
    fn a_084_a_changed_access_token_is_none(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let parts: Vec<&str> = tokens.access.split('.').collect();
        let none_algorithm = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0";
        for token in [
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}", parts[0], parts[1]),
            format!("{none_algorithm}.{}.", parts[1]),
            format!("{none_algorithm}.{}.{}", parts[1], parts[2]),
            format!("{}.{}.{}", parts[0], parts[1], parts[2].chars().rev().collect::<String>()),
            format!("{}=", tokens.access),
            tokens.access[1..].to_owned(),
            tokens.refresh.clone(),
        ] {
            assert_eq!(server.userinfo(&token).verdict(), "401 invalid_token", "{token:.60}");
        }
        assert_eq!(server.userinfo(&tokens.access).status, 200);
    }

    ///
    fn a_085_a_token_that_does_not_reach_the_profile_is_told_which_scope_it_lacks(database) {
        let server = database.start();
        let client = server.register();
        let authorization = client.authorization().with("scope", "email");
        let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
        let tokens = Tokens::of(server.exchange(&client, &code));
        let refused = server.userinfo(&tokens.access);
        assert_eq!(refused.verdict(), "403 insufficient_scope");
        let header = refused.header("WWW-Authenticate").unwrap();
        assert!(header.contains("error=\"insufficient_scope\"") && header.contains("scope=\"profile\""), "{header}");
    }

    /// revoking an access token revokes only that token.
    fn a_090_a_revoked_access_token_leaves_the_family_alive(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        server.revoke(&client, &tokens.access).expect(200);
        assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token");
        assert_eq!(server.refresh(&client, &tokens.refresh).status, 200);
    }

    /// clients learn nothing about tokens before they authenticate.
    fn a_093_wrong_credentials_learn_nothing_about_a_token(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let answers: Vec<String> = [tokens.refresh.as_str(), tokens.access.as_str(), "unknown"]
            .map(|token| client.revocation(token).with("client_secret", "wrong").json())
            .map(|body| server.send(&Request::json("/oauth/revoke", &body)).text())
            .into();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(server.userinfo(&tokens.access).status, 200);
    }

    /// the refreshed tokens belong to the same user and the same sign-in.
    fn a_refreshed_token_tells_of_the_same_person(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let before = server.userinfo(&tokens.access).expect(200).json();
        let refreshed = Tokens::of(server.refresh(&client, &tokens.refresh));
        assert_eq!(server.userinfo(&refreshed.access).expect(200).json(), before);
        assert_eq!(server.userinfo(&tokens.access).status, 200, "the old access token stays valid for its hour");
    }
}

/// the same name twice, even if one of the values is empty.
#[test]
fn a_070_a_parameter_that_comes_twice_is_refused_whatever_its_values() {
    let server = Server::sqlite();
    let client = server.register();
    let form = client.exchange_form("x");
    for name in ["grant_type", "code", "redirect_uri", "client_id", "client_secret"] {
        for second in ["", form.get(name)] {
            let answer = server.token(&form.clone().and(name, second));
            assert_eq!(answer.verdict(), "400 invalid_request", "{name}={second}: {answer:?}");
        }
    }
    assert_eq!(server.token(&form.and("unknown", "1").and("unknown", "2")).verdict(), "400 invalid_grant");
}

/// JSON fields are read by name. A list is not read by position.
#[test]
fn a_json_list_is_no_object_with_fields() {
    let server = Server::sqlite();
    let client = server.register();
    let tokens = server.tokens(&client);
    let words = [client.id.as_str(), client.secret.as_deref().unwrap(), tokens.refresh.as_str()];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let answer = server.send(&Request::json("/oauth/revoke", &json!(order.map(|place| words[place]))));
        assert_eq!(answer.verdict(), "400 invalid_request", "{answer:?}");
    }
    assert_eq!(server.userinfo(&tokens.access).status, 200);
}

/// on every replica, from the next request on.
#[test]
fn a_088_a_revocation_is_known_on_every_replica_at_once() {
    let first = Database::postgres().start();
    let second = first.replica();
    let client = first.register();
    for _ in 0..20 {
        let tokens = first.tokens(&client);
        assert_eq!(second.userinfo(&tokens.access).status, 200);
        first.revoke(&client, &tokens.refresh).expect(200);
        assert_eq!(second.userinfo(&tokens.access).verdict(), "401 invalid_token");
        assert_eq!(second.refresh(&client, &tokens.refresh).verdict(), "400 invalid_grant");
    }
}

/// D-15, B-001: no replica keeps anything to itself.
#[test]
fn a_sign_in_may_change_the_replica_at_every_step() {
    let first = Database::postgres().start();
    let second = first.replica();
    let client = first.register();
    let (mut browser, wallet) = (first.browser(), Wallet::fresh());
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    browser.site = second.site();
    let challenge = browser.challenge(&authorization, &wallet);
    browser.site = first.site();
    let body = countersign_tests::Browser::login_body(&authorization, &wallet, &challenge);
    let code = browser.login(&body).expect(303).answer("code").unwrap();
    let tokens = Tokens::of(second.exchange(&client, &code));
    let refreshed = Tokens::of(first.refresh(&client, &tokens.refresh));
    assert_eq!(second.userinfo(&refreshed.access).status, 200);
    assert_eq!(
        first.get("/oauth/jwks").json(),
        second.get("/oauth/jwks").json(),
        "both publish the same keys"
    );
}

/// Who can register clients: anyone, holders of the token, or no one.
#[test]
fn registration_can_be_closed_or_need_a_token() {
    let closed = Database::sqlite().server().with_env("COUNTERSIGN_REGISTRATION", "closed").start();
    let refused = closed.send(&Site::registration(&json!({})));
    assert!(matches!(refused.status, 401 | 403), "{refused:?}");

    let token = "an-initial-access-token-of-the-operator";
    let guarded = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_REGISTRATION", "token")
        .with_env("COUNTERSIGN_REGISTRATION_TOKEN", token)
        .start();
    assert_eq!(guarded.send(&Site::registration(&json!({}))).status, 401, "A-019");
    assert_eq!(
        guarded.send(&Site::registration(&json!({})).bearer("another-token-of-nobody")).verdict(),
        "401 invalid_token"
    );
    assert_eq!(guarded.send(&Site::registration(&json!({})).bearer(token)).status, 201);
}
