//! The test vectors for the token endpoint and revocation.

use std::thread;
use std::time::Duration;

use countersign_tests::http::Connection;
use countersign_tests::vectors::{Table, one_of};
use countersign_tests::{Client, Parameters, Request, Response, Server, Tokens, Wallet, on_both};
use serde_json::json;

on_both! {
    /// status, code, and what a refused request leaves unspent.
    fn token_requests_are_decided_as_the_table_says(database) {
        let server = database.start();
        let hasty = database.sibling().server().with_env("COUNTERSIGN_CODE_TTL", "1").start();
        let (client, other) = (server.register(), server.register());
        Table::oauth("token_endpoint_decisions").each(|row| {
            let name = row["name"].as_str().unwrap();
            let (response, allowed) = token_decision(name, &server, &hasty, &client, &other)?;
            one_of(name, &response.verdict(), allowed)
        });
    }

    fn code_verifiers_are_judged_as_the_table_says(database) {
        let server = database.start();
        let client = server.register();
        Table::oauth("pkce").each(|row| {
            if row["where"] == "authorize" {
                return Ok(()); // Tested at the authorization endpoint, by the table's other test.
            }
            let authorization = client
                .authorization()
                .with("code_challenge", row["code_challenge"].as_str().unwrap())
                .with("code_challenge_method", "S256");
            let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
            let mut form = client.exchange_form(&code);
            if let Some(verifier) = row["code_verifier"].as_str() {
                form = form.with("code_verifier", verifier);
            }
            let expected = if row["expect"] == "match" { "200" } else { "400 invalid_grant" };
            one_of(&row["name"].to_string(), &server.token(&form).verdict(), &[expected])
        });
    }

    fn revocations_are_decided_as_the_table_says(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register());
        Table::oauth("revoke_decisions").each(|row| {
            let name = row["name"].as_str().unwrap();
            revocation(name, &server, &client, &other)
        });
    }
}

fn token_decision(
    name: &str,
    server: &Server,
    hasty: &Server,
    client: &Client,
    other: &Client,
) -> Result<(Response, &'static [&'static str]), String> {
    const NORMAL: &[&str] = &["200"];
    const INCOMPLETE: &[&str] = &["422 invalid_request"];
    const BAD_GRANT: &[&str] = &["400 invalid_grant"];
    let secret = client.secret.as_deref().unwrap();
    let good = || client.exchange_form(&server.sign_in(client));
    let bare = || good().without("client_id").without("client_secret");
    let typed = |kind: &str| Request::new("POST", "/oauth/token").typed(kind, good().encoded());
    let form = |form: &Parameters| Request::form("/oauth/token", form);
    let (request, allowed): (Request, &'static [&'static str]) = match name {
        "JSON body" => (Request::json("/oauth/token", &good().json()), INCOMPLETE),
        "no content type" => {
            let mut request = typed("");
            request.headers.clear();
            (request, INCOMPLETE)
        }
        "multipart" => (typed("multipart/form-data; boundary=x"), INCOMPLETE),
        "text/plain with a form body" => (typed("text/plain"), INCOMPLETE),
        "form type in capitals" => (typed("Application/X-WWW-Form-Urlencoded"), NORMAL),
        "grant_type missing" => (form(&good().without("grant_type")), INCOMPLETE),
        "grant_type unknown" => {
            (form(&good().with("grant_type", "password")), &["400 unsupported_grant_type"])
        }
        "redirect_uri missing" => (form(&good().without("redirect_uri")), INCOMPLETE),
        "client_secret missing, no Basic, confidential client" => {
            (form(&good().without("client_secret")), INCOMPLETE)
        }
        "client_secret missing, Basic present" => {
            (form(&good().without("client_secret")).basic(&client.id, secret), NORMAL)
        }
        "client_id missing, Basic present" => (form(&bare()).basic(&client.id, secret), NORMAL),
        "code given twice" => (form(&good().and("code", "another")), &["400 invalid_request"]),
        "grant_type in the query only" => (
            Request::form("/oauth/token?grant_type=authorization_code", &good().without("grant_type")),
            INCOMPLETE,
        ),
        "GET" => (Request::query("/oauth/token", &good()), &["405 invalid_request"]),
        "unknown extra field" => (form(&good().with("foo", "bar")), NORMAL),
        "wrong secret" => (form(&good().with("client_secret", "x")), &["401 invalid_client"]),
        "code of another client" => {
            let code = server.sign_in(client);
            let refused = server.exchange(other, &code);
            one_of("another client", &refused.verdict(), BAD_GRANT)?;
            // the client that the code was issued to can still use it.
            (form(&client.exchange_form(&code)), NORMAL)
        }
        "code expired" => {
            let late = hasty.register();
            let code = hasty.sign_in(&late);
            thread::sleep(Duration::from_millis(1100));
            return Ok((hasty.exchange(&late, &code), BAD_GRANT));
        }
        "code used twice" => {
            let code = server.sign_in(client);
            let tokens = Tokens::of(server.exchange(client, &code));
            let again = server.exchange(client, &code);
            one_of("A-065: userinfo", &server.userinfo(&tokens.access).verdict(), &["401 invalid_token"])?;
            one_of("A-065: refresh", &server.refresh(client, &tokens.refresh).verdict(), BAD_GRANT)?;
            return Ok((again, BAD_GRANT));
        }
        "code 10 kB" => (form(&good().with("code", &"x".repeat(10_240))), BAD_GRANT),
        "refresh: token of another client" => {
            let tokens = server.tokens(client);
            let refused = server.refresh(other, &tokens.refresh);
            one_of("A-076: the family lives", &server.refresh(client, &tokens.refresh).verdict(), NORMAL)?;
            return Ok((refused, BAD_GRANT));
        }
        "refresh: revoked" => {
            let tokens = server.tokens(client);
            server.revoke(client, &tokens.refresh).expect(200);
            (form(&client.refresh_form(&tokens.refresh)), BAD_GRANT)
        }
        "refresh: an access token" => (form(&client.refresh_form(&server.tokens(client).access)), BAD_GRANT),
        "refresh: wider scope" => {
            let tokens = server.tokens(client);
            (
                form(&client.refresh_form(&tokens.refresh).with("scope", "profile email")),
                &["400 invalid_scope"],
            )
        }
        "refresh: narrower scope" => {
            let authorization = client.authorization().with("scope", "profile email");
            let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
            let tokens = Tokens::of(server.exchange(client, &code));
            let narrow =
                server.token(&client.refresh_form(&tokens.refresh).with("scope", "profile")).expect(200);
            one_of("scope", &narrow.field("scope"), &["profile"])?;
            // the new refresh token has the same scope as the old one.
            let wide = server.refresh(client, &narrow.field("refresh_token")).expect(200);
            one_of("scope", &wide.field("scope"), &["profile email"])?;
            return Ok((wide, NORMAL));
        }
        "refresh: scope missing" => {
            let refreshed = server.refresh(client, &server.tokens(client).refresh);
            one_of("scope", &refreshed.field("scope"), &["profile"])?;
            return Ok((refreshed, NORMAL));
        }
        "not UTF-8" => {
            let body = good().with("code", "CODE").encoded().replace("CODE", "%ff%fe");
            let request =
                Request::new("POST", "/oauth/token").typed("application/x-www-form-urlencoded", body);
            (request, &["400 invalid_request", "422 invalid_request", "400 invalid_grant"])
        }
        "Transfer-Encoding and Content-Length together" => {
            let request = form(&good()).header("Transfer-Encoding", "chunked").header("Content-Length", "3");
            let response =
                Connection::open(server.address).unwrap().send_last(&server.authority(), &request).unwrap();
            one_of("status", &response.status.to_string(), &["400"])?;
            let closed =
                response.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            return if closed {
                Ok((response, &["400", "400 invalid_request"]))
            } else {
                Err("stays open".to_owned())
            };
        }
        "Content-Encoding: gzip" => (
            form(&good()).header("Content-Encoding", "gzip"),
            &["415 invalid_request", "400 invalid_request"],
        ),
        "Expect: 100-continue" => (form(&good()).header("Expect", "100-continue"), NORMAL),
        "Origin header" => {
            let response = server.send(&form(&good()).header("Origin", "https://spa.example"));
            one_of("CORS", response.header("Access-Control-Allow-Origin").unwrap_or("none"), &["*"])?;
            one_of(
                "credentials",
                response.header("Access-Control-Allow-Credentials").unwrap_or("none"),
                &["none"],
            )?;
            return Ok((response, NORMAL));
        }
        other => return Err(format!("no judge for {other}")),
    };
    Ok((server.send(&request), allowed))
}

fn revocation(name: &str, server: &Server, client: &Client, other: &Client) -> Result<(), String> {
    let tokens = server.tokens(client);
    let good = client.revocation(&tokens.refresh);
    let json = |body: &serde_json::Value| server.send(&Request::json("/oauth/revoke", body));
    let with_token = |token: serde_json::Value| {
        let mut body = good.json();
        body["token"] = token;
        json(&body)
    };
    let (response, expected, lives) = match name {
        "seed form: JSON, refresh token" => (json(&good.json()), "200", false),
        "RFC 7009 form body" => (server.send(&Request::form("/oauth/revoke", &good)), "200", false),
        "token unknown" => (json(&client.revocation("unknown").json()), "200", true),
        "token already revoked" => {
            json(&good.json());
            (json(&good.json()), "200", false)
        }
        "token of another client" => {
            (json(&other.revocation(&tokens.refresh).json()), "400 unauthorized_client", true)
        }
        "wrong secret" => (json(&good.clone().with("client_secret", "x").json()), "401 invalid_client", true),
        "unknown client" => {
            (json(&good.clone().with("client_id", "random").json()), "401 invalid_client", true)
        }
        "token missing" => (json(&good.clone().without("token").json()), "400 invalid_request", true),
        "client_id missing" => (json(&good.clone().without("client_id").json()), "400 invalid_request", true),
        "token_type_hint wrong" => {
            let body = client.revocation(&tokens.access).with("token_type_hint", "refresh_token").json();
            (json(&body), "200", false)
        }
        "token_type_hint unknown" => {
            (json(&good.clone().with("token_type_hint", "foo").json()), "200", false)
        }
        "token null" => (with_token(json!(null)), "400 invalid_request", true),
        "token is a number" => (with_token(json!(1)), "400 invalid_request", true),
        "token is an array" => (with_token(json!(["a"])), "400 invalid_request", true),
        "invalid JSON" => {
            let request = Request::new("POST", "/oauth/revoke").typed("application/json", "{");
            (server.send(&request), "400 invalid_request", true)
        }
        "authorization code" => {
            let code = server.sign_in(client);
            let response = json(&client.revocation(&code).json());
            // Only tokens can be revoked here. A code expires after sixty seconds.
            one_of("the code", &server.exchange(client, &code).verdict(), &["200"])?;
            (response, "200", true)
        }
        other => return Err(format!("no judge for {other}")),
    };
    one_of(name, &response.verdict(), &[expected])?;
    let alive = if lives { "200" } else { "401 invalid_token" };
    one_of("the access token afterwards", &server.userinfo(&tokens.access).verdict(), &[alive])
}

///
#[test]
fn basic_credentials_are_read_as_the_table_says() {
    let server = Server::sqlite();
    Table::oauth("client_basic_auth").each(|row| {
        let mut form = Parameters::of(&[
            ("grant_type", "authorization_code"),
            ("code", "unknown"),
            ("redirect_uri", "https://client.example/cb"),
        ]);
        for (name, value) in row["body_also"].as_object().into_iter().flatten() {
            form = form.with(name, value.as_str().unwrap());
        }
        let request = Request::form("/oauth/token", &form)
            .header("Authorization", row["authorization"].as_str().unwrap());
        let response = server.send(&request);
        // The clients in the table are not registered here, so readable credentials are refused as an unknown
        // client's.
        let allowed: &[&str] = match row["expect"].as_str().unwrap_or("401") {
            expect if expect.starts_with("400 invalid_request or") => {
                &["400 invalid_request", "401 invalid_client"]
            }
            expect if expect.starts_with("400 invalid_request") => &["400 invalid_request"],
            _ => &["401 invalid_client"],
        };
        one_of(&row["why"].to_string(), &response.verdict(), allowed)?;
        let asks = response.header("WWW-Authenticate").is_some_and(|header| header.starts_with("Basic"));
        if response.status == 401 && !asks { Err("no WWW-Authenticate: Basic".to_owned()) } else { Ok(()) }
    });
}

/// RFC 6749 2.3.1: both halves are form-encoded, whether or not they need it.
#[test]
fn basic_credentials_are_form_decoded() {
    let server = Server::sqlite();
    let client = server.register();
    let secret = client.secret.clone().unwrap();
    let percent = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    for (id, secret) in [
        (client.id.clone(), secret.clone()),
        (client.id.clone(), percent(&secret)),
        (percent(&client.id), secret),
    ] {
        let form = client.exchange_form("unknown").without("client_id").without("client_secret");
        let response = server.send(&Request::form("/oauth/token", &form).basic(&id, &secret));
        assert_eq!(
            response.verdict(),
            "400 invalid_grant",
            "the client is authenticated, and the error is about the code"
        );
    }
}
