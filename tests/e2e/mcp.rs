//! What an MCP client does to sign a user in for an MCP server (docs/mcp.md). The client is described by a
//! document or is registered.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::site::VERIFIER;
use countersign_tests::{
    Client, Database, Parameters, Request, Response, Server, Site, Tokens, Wallet, on_both,
};
use serde_json::{Value, json};

const MCP_SERVER: &str = "https://mcp.example.com/mcp";
const CALLBACK: &str = "http://127.0.0.1:33418/callback";

/// Another party's web server, with the same document at every path.
struct Elsewhere {
    origin: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Elsewhere {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let this = Self { origin, answer: Arc::default(), asked: Arc::default() };
        let (answer, asked) = (Arc::clone(&this.answer), Arc::clone(&this.asked));
        thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = connection.read(&mut [0; 4096]);
                let answer = answer.lock().unwrap().clone();
                let _ = connection.write_all(answer.as_bytes());
            }
        });
        this
    }

    fn answers(&self, status: &str, content_type: &str, body: &str) {
        *self.answer.lock().unwrap() = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
    }

    /// Publishes a valid document, with these members changed.
    fn describes(&self, change: &Value) -> Client {
        let id = format!("{}/oauth/client.json", self.origin);
        let mut document = json!({
            "client_id": id,
            "client_name": "Example MCP Client",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        });
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        self.answers("200 OK", "application/json", &document.to_string());
        Client::described_at(id, CALLBACK)
    }
}

/// An MCP client's authorization request: a resource and PKCE, no scope and no state.
fn authorization(client: &Client) -> Parameters {
    client.shortest_authorization().with("resource", MCP_SERVER)
}

/// The rest of the flow, which is the same however the client is identified.
fn walk(server: &Server, client: &Client) -> Tokens {
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let body = browser.prepare_with(&authorization(client), &wallet);
    let answered = browser.login(&body).expect(303);
    assert_eq!(answered.answered(), ["code", "iss"], "no state was sent, and iss is always there");
    assert_eq!(answered.answer("iss"), Some(server.public_url.clone()));
    let form = client.exchange_form(&answered.answer("code").unwrap()).with("resource", MCP_SERVER);
    let tokens = Tokens::of(server.token(&form));
    assert_for_the_mcp_server(&tokens, client);
    let form = client.refresh_form(&tokens.refresh).with("resource", MCP_SERVER);
    let refreshed = Tokens::of(server.token(&form));
    assert_for_the_mcp_server(&refreshed, client);
    let other = client.refresh_form(&refreshed.refresh).with("resource", "https://other.example.com");
    assert_eq!(server.token(&other).verdict(), "400 invalid_target", "the token is not for another server");
    let tokens = Tokens::of(server.refresh(client, &refreshed.refresh));
    assert_for_the_mcp_server(&tokens, client);
    tokens
}

fn assert_for_the_mcp_server(tokens: &Tokens, client: &Client) {
    let claims = claims(&tokens.access);
    // A user who grants `openid` also grants access to this server (F-09).
    let is_openid = claims["scope"].as_str().unwrap().split(' ').any(|scope| scope == "openid");
    let audience = if is_openid { json!([MCP_SERVER, claims["iss"]]) } else { json!(MCP_SERVER) };
    assert_eq!((&claims["aud"], &claims["client_id"]), (&audience, &json!(client.id)), "A-108");
}

fn claims(jwt: &str) -> Value {
    let payload = jwt.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// What the user's browser gets for a client's id.
fn asked(server: &Site, client: &Client) -> Response {
    server.browser().authorize(&authorization(client))
}

on_both! {
    fn a_client_that_its_document_describes_walks_through(database) {
        let server = database.start();
        let elsewhere = Elsewhere::new();
        let client = elsewhere.describes(&json!({}));
        let tokens = walk(&server, &client);
        assert_eq!(elsewhere.asked.load(Ordering::SeqCst), 1, "the document is cached for a while");
        server.revoke(&client, &tokens.refresh).expect(200);
        assert_eq!(server.refresh(&client, &tokens.refresh).verdict(), "400 invalid_grant");
    }

    /// The MCP server publishes its own metadata (RFC 9728). Everything after that happens here.
    fn a_client_that_registers_walks_through(database) {
        let server = database.start();
        let metadata = server.get("/.well-known/oauth-authorization-server").expect(200).json();
        assert_eq!(metadata["issuer"], json!(server.public_url));
        let endpoint = metadata["registration_endpoint"].as_str().unwrap().strip_prefix(&server.public_url);
        let registration = json!({
            "client_name": "Example MCP Client",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        });
        let registered = server.send(&Request::json(endpoint.unwrap(), &registration)).expect(201);
        walk(&server, &Client::of(&registered.json()));
    }

    fn a_replica_shows_the_page_of_a_document_that_another_fetched(database) {
        let server = database.start();
        let replica = server.replica();
        let client = Elsewhere::new().describes(&json!({}));
        let mut browser = server.browser();
        browser.authorize(&authorization(&client)).expect(302);
        browser.site = replica.site();
        let page = browser.send(Request::get("/auth").header("Accept", "text/html")).expect(200).text();
        let host = client.id.strip_prefix("http://").unwrap().split('/').next().unwrap();
        assert!(page.contains("id=\"described\"") && page.contains(host), "{page}");
        assert!(page.contains("a program on this computer"), "the redirect's host too: {page}");
        let wallet = Wallet::fresh();
        let challenge = browser.challenge(&authorization(&client), &wallet);
        let body = countersign_tests::Browser::login_body(&authorization(&client), &wallet, &challenge);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        Tokens::of(server.token(&client.exchange_form(&code)));
    }
}

#[test]
fn the_metadata_is_what_an_mcp_client_insists_on() {
    for url in ["http://localhost:9", "http://localhost:9/tenant1"] {
        let server = Database::sqlite().server().with_public_url(url).start();
        let base = server.base_path();
        let insertion = format!("/.well-known/oauth-authorization-server{base}");
        for path in [
            insertion,
            format!("/.well-known/openid-configuration{base}"),
            format!("{base}/.well-known/openid-configuration"),
        ] {
            let metadata = server.get(&path).expect(200).json();
            assert_eq!(metadata["issuer"], json!(url), "{path}");
            assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]), "{path}");
            assert_eq!(metadata["authorization_response_iss_parameter_supported"], json!(true), "{path}");
            assert_eq!(metadata["client_id_metadata_document_supported"], json!(true), "{path}");
            let methods = metadata["token_endpoint_auth_methods_supported"].as_array().unwrap();
            assert!(methods.contains(&json!("none")), "{path}");
            let grant_types = metadata["grant_types_supported"].as_array().unwrap();
            assert!(grant_types.contains(&json!("authorization_code")), "{path}");
            assert!(grant_types.contains(&json!("client_credentials")), "{path}");
        }
    }
}

/// B-048: the error says what is wrong as far as that is safe, on the page and not in a redirect.
#[test]
fn a_document_that_is_none_is_refused_on_the_page() {
    let server = Server::sqlite();
    let told = |client: &Client| asked(&server, client).expect(400).field("error_description");
    let elsewhere = Elsewhere::new();
    let client = elsewhere.describes(&json!({"client_id": "https://app.example/other"}));
    assert_eq!(told(&client), "Invalid client_id: client_id in the document is not its URL");
    let with_secret = Elsewhere::new().describes(&json!({"client_secret": "everybody knows it"}));
    assert_eq!(told(&with_secret), "Invalid client_id: its document holds a client secret");
    let elsewhere = Elsewhere::new();
    let client = elsewhere.describes(&json!({}));
    elsewhere.answers("200 OK", "text/html", "{}");
    assert_eq!(told(&client), "Invalid client_id: its document is not of a JSON media type");
    for (status, body) in [("404 Not Found", "{}".to_owned()), ("200 OK", " ".repeat(70_000))] {
        let elsewhere = Elsewhere::new();
        let client = elsewhere.describes(&json!({}));
        elsewhere.answers(status, "application/json", &body);
        assert_eq!(told(&client), "Invalid client_id: its document cannot be fetched", "{status}");
    }
    let nobody = Client { id: "https://no-such-host.invalid/client.json".to_owned(), ..client };
    assert_eq!(told(&nobody), "Invalid client_id: its document cannot be fetched");
    let page = server
        .browser()
        .send(Request::query("/oauth/authorize", &authorization(&nobody)).header("Accept", "text/html"));
    assert!(page.expect(400).text().contains("Invalid client_id"));
}

#[test]
fn documents_are_for_servers_whose_operator_wants_them() {
    let elsewhere = Elsewhere::new();
    let client = elsewhere.describes(&json!({}));
    for (name, value) in [
        ("COUNTERSIGN_CLIENT_DOCUMENTS", "off"),
        ("COUNTERSIGN_REGISTRATION", "closed"),
        ("COUNTERSIGN_REGISTRATION", "token"),
    ] {
        let server = Database::sqlite().server().with_env(name, value).start();
        assert_eq!(asked(&server, &client).expect(400).field("error_description"), "Invalid client_id");
        let metadata = server.get("/.well-known/openid-configuration").json();
        assert_eq!(metadata["client_id_metadata_document_supported"], json!(false));
    }
    assert_eq!(elsewhere.asked.load(Ordering::SeqCst), 0);
}

/// Without a signature, nobody can make the database grow.
#[test]
fn a_document_is_stored_when_somebody_signs_and_shown_at_the_account() {
    let server = Server::sqlite();
    let client = Elsewhere::new().describes(&json!({}));
    asked(&server, &client).expect(302);
    let unknown = server.token(&client.refresh_form("nothing"));
    assert_eq!(unknown.verdict(), "422 invalid_request", "it is not in the database yet");
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let body = browser.prepare_with(&authorization(&client), &wallet);
    browser.login(&body.with("remember", "on")).expect(303);
    assert_eq!(server.token(&client.refresh_form("nothing")).verdict(), "400 invalid_grant");
    let page = browser.send(Request::get("/account").header("Accept", "text/html")).expect(200).text();
    assert!(page.contains("Example MCP Client") && page.contains("Described at"), "{page}");
    let code = "A".repeat(64);
    let wrong = client.exchange_form(&code).with("code_verifier", VERIFIER);
    assert_eq!(server.token(&wrong).verdict(), "400 invalid_grant");
}

/// B-076: someone who makes the server fetch many documents is told to wait.
#[test]
fn b_076_asking_for_documents_is_counted() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on").start();
    let client = Elsewhere::new().describes(&json!({}));
    let statuses = (0..70).map(|_| asked(&server, &client).status);
    assert!(statuses.into_iter().any(|status| status == 429));
}
