//! The test vectors for access tokens at the userinfo endpoint.

use std::thread;
use std::time::Duration;

use countersign_tests::vectors::{Table, one_of};
use countersign_tests::{Database, Parameters, Request, on_both};

on_both! {
    ///
    fn access_tokens_are_taken_as_the_table_says(database) {
        let server = database.start();
        let client = server.register();
        let valid = server.tokens(&client).access;
        let revoked = server.tokens(&client).access;
        server.revoke(&client, &revoked).expect(200);
        let code = server.sign_in(&client);
        // The header and the claims of a token with a wrong signature. It is not an access token of ours.
        let foreign = format!("{}AAAA", &valid[..valid.len() - 4]);
        let fill = |text: &str| {
            text.replace("<valid>", &valid)
                .replace("<revoked>", &revoked)
                .replace("<authorization code>", &code)
                .replace("<id_token>", &foreign)
        };
        Table::oauth("bearer_userinfo").each(|row| {
            let asked = &row["request"];
            if asked["authorization"] == "Bearer <expired>" {
                return an_expired_token_is_refused(&database.sibling());
            }
            let text = |name: &str| asked[name].as_str().map(fill);
            let query = text("query").map(|query| format!("?{query}")).unwrap_or_default();
            let mut request =
                Request::new(asked["method"].as_str().unwrap_or("GET"), &format!("/oauth/userinfo{query}"));
            if let Some((name, value)) = text("form").as_deref().and_then(|form| form.split_once('=')) {
                let form = Parameters::of(&[(name, value)]);
                request = Request::form("/oauth/userinfo", &form);
            }
            for header in ["authorization", "authorization2"] {
                if let Some(value) = text(header) {
                    request = request.header("Authorization", &value);
                }
            }
            if let Some(origin) = text("origin") {
                request = request.header("Origin", &origin).header("Access-Control-Request-Method", "GET");
            }
            let response = server.send(&request);
            if response.status == 401 {
                let challenge = response.header("WWW-Authenticate").unwrap_or_default();
                // a request without a token gets no error code.
                let names_error = challenge.contains("error=\"invalid_token\"");
                let sent = request.headers.iter().any(|(name, value)| name == "Authorization" && value.starts_with("Bearer "));
                if !challenge.starts_with("Bearer") || (sent && !names_error) {
                    return Err(format!("WWW-Authenticate: {challenge}"));
                }
            }
            let expectation = row["expect"].as_str().unwrap();
            let allowed: &[&str] = match expectation.get(..3).unwrap_or_default() {
                "204" => &["204", "200"],
                _ if expectation.contains("200 or 401") => &["200", "401"],
                _ if expectation.contains("400 or 401") => &["400", "401"],
                "200" => &["200"],
                "400" => &["400"],
                "401" => &["401"],
                "405" => &["405"],
                other => return Err(format!("no judge for {other}")),
            };
            one_of(&asked.to_string(), &response.status.to_string(), allowed)
        });
    }
}

fn an_expired_token_is_refused(database: &Database) -> Result<(), String> {
    let server = database.server().with_env("COUNTERSIGN_ACCESS_TOKEN_TTL", "1").start();
    let access = server.tokens(&server.register()).access;
    thread::sleep(Duration::from_millis(1100));
    let response = server.userinfo(&access);
    if !response.header("WWW-Authenticate").is_some_and(|header| header.contains("error=\"invalid_token\"")) {
        return Err("expired: no error in WWW-Authenticate".to_owned());
    }
    one_of("expired", &response.verdict(), &["401 invalid_token"])
}
