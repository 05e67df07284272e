//! The test vectors for registration and authorization. Nothing is written, so one database is enough.

use countersign_tests::site::CODE_CHALLENGE;
use countersign_tests::vectors::{Table, one_of};
use countersign_tests::{Browser, Client, Database, Parameters, Request, Response, Server, Site, Wallet};
use serde_json::{Value, json};

#[test]
fn authorization_requests_are_decided_as_the_table_says() {
    let server = Server::sqlite();
    let client = server.register_with(&json!({"scopes": ["profile", "email", "openid"]}));
    Table::oauth("authorize_decisions").each(|row| {
        let name = row["name"].as_str().unwrap();
        let good = client.authorization();
        let ask = |parameters: Parameters| server.send(&Request::query("/oauth/authorize", &parameters));
        let without = |field: &str| ask(good.clone().without(field));
        let with = |field: &str, value: &str| ask(good.clone().with(field, value));
        let twice = |field: &str| ask(good.clone().and(field, good.get(field)));
        let (response, allowed): (Response, &[&str]) = match name {
            "POST form body" => (server.send(&Request::form("/oauth/authorize", &good)), &["303 /auth"]),
            "unknown client_id" => (with("client_id", "random"), &["400 invalid_client Invalid client_id"]),
            "client_id missing" => (without("client_id"), &["400 invalid_client Invalid client_id"]),
            "redirect_uri missing" => {
                let explained = "400 invalid_request Invalid redirect_uri: it is missing; registered: https://client.example/cb";
                (without("redirect_uri"), &[explained])
            }
            "redirect_uri not registered" => {
                let explained = "400 invalid_request Invalid redirect_uri: https://evil.example/ is not registered; \
                                 registered: https://client.example/cb";
                (with("redirect_uri", "https://evil.example/"), &[explained])
            }
            "response_type missing" => (without("response_type"), &["302 invalid_request"]),
            "response_type \"code id_token\"" => {
                (with("response_type", "code id_token"), &["302 unsupported_response_type"])
            }
            "scope missing" => (without("scope"), &["302 invalid_scope"]),
            "state empty" => (with("state", ""), &["302 invalid_request"]),
            "client_id twice" => {
                (twice("client_id"), &["400 invalid_request parameter client_id is given more than once"])
            }
            "redirect_uri twice" => (
                twice("redirect_uri"),
                &["400 invalid_request parameter redirect_uri is given more than once"],
            ),
            "scope twice" => (twice("scope"), &["302 invalid_request"]),
            "response_mode fragment" => (with("response_mode", "fragment"), &["302 invalid_request"]),
            "prompt=none, no session" => (with("prompt", "none"), &["302 login_required"]),
            "max_age=0" => (with("max_age", "0"), &["302 /auth"]),
            "max_age=-1" => (with("max_age", "-1"), &["302 invalid_request"]),
            "nonce 512 chars" => {
                let body = good.clone().with("scope", "openid").with("nonce", &"n".repeat(512));
                (ask(body), &["302 /auth"])
            }
            "login_hint = address" => return the_hint_is_shown_and_escaped(&server, &good),
            "NUL in state" => (with("state", "a\0b"), &["302 /auth", "302 invalid_request"]),
            "HEAD" => {
                let request =
                    Request { method: "HEAD".to_owned(), ..Request::query("/oauth/authorize", &good) };
                (server.send(&request), &["302 /auth", "405"])
            }
            "PUT" => (server.send(&Request::new("PUT", "/oauth/authorize")), &["405 invalid_request"]),
            "iframe embedding" => {
                let mut browser = server.browser();
                browser.authorize(&good).expect(302);
                let page = browser.send(Request::get("/auth").header("Sec-Fetch-Dest", "iframe"));
                // That a page cannot be framed is checked on every page that the tests load.
                return one_of(name, &page.status.to_string(), &["200", "400", "403"]);
            }
            other => return Err(format!("no judge for {other}")),
        };
        let came = decision(&response);
        if response.status == 302 && came != "302 /auth" {
            let names = response.answered();
            let whole = names.iter().any(|name| name == "iss")
                && names.iter().any(|name| name == "error_description");
            let state = response.answer("state");
            if !whole
                || (good.0.iter().any(|(name, _)| name == "state")
                    && name != "state empty"
                    && state.is_none()
                    && name != "NUL in state")
            {
                return Err(format!("A-042: {names:?}"));
            }
        }
        one_of(name, &came, allowed)
    });
}

/// The status, and where the response redirects to or what it says.
fn decision(response: &Response) -> String {
    match response.header("Location") {
        Some("/auth") => format!("{} /auth", response.status),
        Some(_) => format!(
            "{} {}",
            response.status,
            response.answer("error").unwrap_or_else(|| "without error".to_owned())
        ),
        None if response.status == 405 => response.verdict(),
        None => format!("{} {}", response.verdict(), response.field("error_description")),
    }
}

fn the_hint_is_shown_and_escaped(server: &Server, good: &Parameters) -> Result<(), String> {
    let hint = format!("{}\"><script>alert(1)</script>", Wallet::fresh().address());
    let mut browser = server.browser();
    browser.authorize(&good.clone().with("login_hint", &hint)).expect(302);
    let page = browser.send(Request::get("/auth")).expect(200).text();
    if page.contains("<script>alert(1)") || !page.contains(&hint[..42]) {
        return Err("B-068: the hint is missing or not escaped".to_owned());
    }
    Ok(())
}

/// as strings, but for the port of a loopback address.
#[test]
fn redirect_uris_match_as_the_table_says() {
    let settings = Database::sqlite().server().with_public_url("https://auth.example.com");
    let server = settings.with_env("COUNTERSIGN_REGISTRATION", "open").start();
    let page = server.browser();
    Table::oauth("redirect_uri_matching").each(|row| {
        let requested = row["requested"].as_str().unwrap();
        let registered = server.send(&Site::registration(&json!({"redirect_uris": row["registered"]})));
        let came = if registered.status == 201 {
            let client = Site::client(&registered);
            let parameters = client.authorization().with("redirect_uri", requested);
            let response = page.site.send(&Request::query("/oauth/authorize", &parameters));
            match decision(&response).as_str() {
                "302 /auth" => "match",
                // A client that registered itself, at an issuer that others reach: nothing is repeated.
                "400 invalid_request Invalid redirect_uri" if !response.text().contains("evil") => "no-match",
                other => return Err(other.to_owned()),
            }
        } else {
            // A redirect URI that cannot be registered matches nothing.
            assert_eq!(registered.verdict(), "400 invalid_redirect_uri");
            "no-match"
        };
        // The port may differ only for loopback IP literals. `localhost` is a name.
        let expected = row["expect"].as_str().unwrap().replace("policy", "no-match");
        one_of(requested, came, &[&expected])
    });
}

/// A-013, E-37.
#[test]
fn redirect_uris_are_registered_as_the_table_says() {
    let server = Server::sqlite();
    Table::oauth("redirect_uri_registration").each(|row| {
        let response = server.send(&Site::registration(&json!({"redirect_uris": [row["redirect_uri"]]})));
        let expected = if row["expect"] == "accept" { "201" } else { "400 invalid_redirect_uri" };
        one_of(&row["redirect_uri"].to_string(), &response.verdict(), &[expected])
    });
}

/// B-019: a borrowed name stays text beside the host that the sign-in leads to.
#[test]
fn hostile_metadata_is_refused_or_shown_escaped_as_the_table_says() {
    let server = Server::sqlite();
    Table::oauth("client_metadata_hostile").each(|row| {
        let (field, value) = (row["field"].as_str().unwrap(), &row["value"]);
        let metadata = if field == "redirect_uris" { json!({field: [value]}) } else { json!({field: value}) };
        let response = server.send(&Site::registration(&metadata));
        let expectation = row["expect"].as_str().unwrap();
        match response.verdict().as_str() {
            "201" if expectation.starts_with("reject") => Err(format!("{field}: registered")),
            "201" => the_page_is_harmless(&server, &Site::client(&response)),
            "400 invalid_client_metadata" | "400 invalid_redirect_uri" if expectation == "accept" => {
                Err(format!("{field}: {}", response.field("error_description")))
            }
            "400 invalid_client_metadata" | "400 invalid_redirect_uri" | "400 invalid_request" => Ok(()),
            other => Err(format!("{field}: {other}")),
        }
    });
}

/// B-066, B-067: the only scripts are ours, the page's and the language menu's, whatever the client's name
/// is.
fn the_page_is_harmless(server: &Server, client: &Client) -> Result<(), String> {
    let mut browser = server.browser();
    browser.authorize(&client.authorization()).expect(302);
    let page = browser.send(Request::get("/auth")).expect(200).text();
    let scripts = page.matches("<script").count();
    // Text between tags and quotes has no effect.
    let tags: Vec<&str> = page.split('<').filter_map(|part| part.split('>').next()).collect();
    let names: String = tags.iter().flat_map(|tag| tag.split('"').step_by(2)).collect();
    let handlers = [" onerror", " onload", " onmouseover"].iter().any(|handler| names.contains(handler));
    if scripts > 2
        || handlers
        || page.contains("javascript:")
        || page.contains("<img") && page.contains("src=\"http")
    {
        return Err(format!("the page contains foreign markup: {scripts} scripts"));
    }
    Ok(())
}

#[test]
fn scopes_are_judged_as_the_table_says() {
    let server = Server::sqlite();
    Table::oauth("scope").each(|row| {
        let client = server.register_with(&json!({"scopes": row["client_scopes"]}));
        let authorization = client.authorization().with("scope", row["requested"].as_str().unwrap());
        let response = server.browser().authorize(&authorization);
        let expectation = row["expect"].as_str().unwrap();
        let allowed: &[&str] = match expectation {
            granted if granted.starts_with("granted: ") => &["302 /auth"],
            // More than one space between scopes is accepted.
            pinned if pinned.contains("pin") => &["302 /auth"],
            _ => &["302 invalid_scope"],
        };
        one_of(&row["requested"].to_string(), &decision(&response), allowed)
    });
}

/// the same bytes, and nothing injected.
#[test]
fn a_state_comes_back_as_the_table_says() {
    let server = Server::sqlite();
    let client = server.register();
    Table::oauth("state_roundtrip").each(|row| {
        let state = row["state"].as_str().unwrap();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization().with("state", state);
        let begun = browser.authorize(&authorization);
        let expectation = row["expect"].as_str().unwrap();
        let may_be_refused = expectation.contains("invalid_request");
        if begun.location() != "/auth" {
            let verdict = decision(&begun);
            return if may_be_refused {
                one_of(state, &verdict, &["302 invalid_request"])
            } else {
                Err(verdict)
            };
        }
        let challenge = browser.challenge(&authorization, &wallet);
        let signed_in = browser.login(&Browser::login_body(&authorization, &wallet, &challenge)).expect(303);
        if signed_in.answered() != ["code", "state", "iss"] {
            return Err(format!("injected: {:?}", signed_in.answered()));
        }
        match signed_in.answer("state") {
            Some(came) if came == state => Ok(()),
            other => Err(format!("came back as {other:?}")),
        }
    });
}

/// S256, and a challenge that can be one.
#[test]
fn code_challenges_are_judged_as_the_table_says() {
    let server = Server::sqlite();
    let client = server.register();
    assert_eq!(CODE_CHALLENGE.len(), 43);
    Table::oauth("pkce").each(|row| {
        if row["where"] == "token" {
            return Ok(()); // Tested at the token endpoint, by the table's other test.
        }
        let mut parameters = client.authorization();
        let challenges =
            row["code_challenge"].as_array().cloned().unwrap_or_else(|| vec![row["code_challenge"].clone()]);
        for challenge in challenges.iter().filter_map(Value::as_str) {
            parameters = parameters.and("code_challenge", challenge);
        }
        if let Some(method) = row["method"].as_str() {
            parameters = parameters.with("code_challenge_method", method);
        }
        let expected = if row["expect"] == "match" { "302 /auth" } else { "302 invalid_request" };
        one_of(&row["name"].to_string(), &decision(&server.browser().authorize(&parameters)), &[expected])
    });
}
