//! The requests of the MCP clients that people run, as they were recorded, each with its source. Every client gets in
//! at a server as it is (documents on, registration open, one resource declared), refreshes, comes again with another
//! port, and steps up after `insufficient_scope`.

use countersign_tests::client_site::ClientSite;
use countersign_tests::jose::{SigningKey, claims_of, now, random_text};
use countersign_tests::site::VERIFIER;
use countersign_tests::{
    Browser, Client, Database, Parameters, Request, Response, Server, Site, Tokens, Wallet, on_both,
};
use serde_json::{Value, json};

const MCP_SERVER: &str = "https://mcp.example.com/mcp";
const FIRST: &str = "tools.read";
const STEP_UP: &str = "tools.write";
/// Stands for all of the server's `scopes_supported` in what a client registers.
const ADVERTISED: &str = "*";

/// What a client asks for at first.
#[derive(Clone, Copy, Debug)]
enum Asks {
    /// No `scope` at all.
    Nothing,
    /// All of the server's `scopes_supported`.
    AllAdvertised,
    /// These, which are written in the program.
    For(&'static str),
}

/// How a client authenticates at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proves {
    Nothing,
    SecretInForm,
    SecretByBasic,
    /// With an assertion whose `aud` is the token endpoint.
    KeyForEndpoint,
}

#[derive(Clone, Debug)]
struct Recorded {
    name: &'static str,
    /// Where the request was recorded or is written.
    source: &'static str,
    /// Is this published as a document, or registered?
    is_document: bool,
    metadata: Value,
    /// The redirect URIs of two runs.
    redirects: [&'static str; 2],
    asks: Asks,
    proves: Proves,
}

fn native(name: &str, redirect_uris: &[&str]) -> Value {
    json!({
        "client_name": name, "redirect_uris": redirect_uris, "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    })
}

fn with(mut metadata: Value, name: &str, value: Value) -> Value {
    metadata[name] = value;
    metadata
}

fn recorded() -> Vec<Recorded> {
    use Asks::{AllAdvertised, For, Nothing};
    let document = |name, source, metadata, redirects, asks| Recorded {
        name,
        source,
        is_document: true,
        metadata,
        redirects,
        asks,
        proves: Proves::Nothing,
    };
    let registers = |name, source, metadata, redirects, asks| Recorded {
        is_document: false,
        ..document(name, source, metadata, redirects, asks)
    };
    let claude_ai = ["https://claude.ai/api/mcp/auth_callback"; 2];
    let chatgpt = ["https://chatgpt.com/connector_platform_oauth_redirect"; 2];
    let cursor = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ];
    let vscode = ["http://127.0.0.1:33418", "https://vscode.dev/redirect"];
    let chatgpt_document = json!({
        "client_name": "ChatGPT", "redirect_uris": [chatgpt[0]], "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
    });
    vec![
        document(
            "Claude Code, document",
            "github.com/anthropics/claude-code/issues/37767, 42301 and 64705",
            native("Claude Code", &["http://localhost/callback", "http://127.0.0.1/callback"]),
            ["http://localhost:8135/callback", "http://localhost:8136/callback"],
            Nothing,
        ),
        registers(
            "Claude Code, registered",
            "github.com/elmohq/elmo/pull/684 (captured from Claude Code 2.1)",
            with(
                native("Claude Code (mcp)", &["http://localhost:3118/callback"]),
                "application_type",
                json!("native"),
            ),
            ["http://localhost:3118/callback", "http://localhost:8136/callback"],
            For("openid offline_access"),
        ),
        document(
            "Claude.ai, document",
            "claude.ai/oauth/mcp-oauth-client-metadata; grant types as in altinity-mcp issue 118",
            with(
                native("Claude", &claude_ai[..1]),
                "grant_types",
                json!(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"]),
            ),
            claude_ai,
            Nothing,
        ),
        Recorded {
            proves: Proves::SecretInForm,
            ..registers(
                "Claude.ai, registered",
                "github.com/CopilotKit/pathfinder/pull/34",
                with(
                    native("Claude", &claude_ai[..1]),
                    "token_endpoint_auth_method",
                    json!("client_secret_post"),
                ),
                claude_ai,
                Nothing,
            )
        },
        Recorded {
            proves: Proves::SecretByBasic,
            ..registers(
                "ChatGPT, registered",
                "github.com/danielealbano/android-remote-control-mcp/pull/166",
                with(
                    native("ChatGPT", &chatgpt[..1]),
                    "token_endpoint_auth_method",
                    json!("client_secret_basic"),
                ),
                chatgpt,
                For("openid profile offline_access"),
            )
        },
        Recorded {
            proves: Proves::KeyForEndpoint,
            ..document(
                "ChatGPT, document with a key",
                "github.com/gamedevpl/www.gamedev.pl/pull/641",
                chatgpt_document,
                chatgpt,
                AllAdvertised,
            )
        },
        registers(
            "Cursor",
            "github.com/erp-mafia/accounted/pull/2225, soflyy/agent-connector-for-wp issue 111",
            native("Cursor", &cursor),
            [cursor[0], cursor[2]],
            AllAdvertised,
        ),
        registers(
            "Cursor, as a web application",
            "github.com/elie222/inbox-zero/pull/3780",
            with(native("Cursor", &cursor[..1]), "application_type", json!("web")),
            [cursor[0]; 2],
            Nothing,
        ),
        document(
            "VS Code, document",
            "github.com/microsoft/vscode src/vs/base/common/oauth.ts",
            native("Visual Studio Code", &["http://127.0.0.1/", "https://vscode.dev/redirect"]),
            ["http://127.0.0.1:8137/", "https://vscode.dev/redirect"],
            AllAdvertised,
        ),
        registers(
            "VS Code, registered, asking for what the server advertises",
            "github.com/microsoft/vscode src/vs/base/common/oauth.ts",
            with(native("Visual Studio Code", &vscode), "application_type", json!("native")),
            vscode,
            AllAdvertised,
        ),
        registers(
            "an extension of VS Code",
            "github.com/cline/cline src/core/controller (vscode://saoudrizwan.claude-dev)",
            native("Cline", &["vscode://saoudrizwan.claude-dev/mcp-auth/callback"]),
            ["vscode://saoudrizwan.claude-dev/mcp-auth/callback"; 2],
            Nothing,
        ),
        document(
            "Goose, document",
            "github.com/aaif-goose/goose/pull/8550",
            native("Goose", &["http://localhost/oauth_callback", "http://127.0.0.1/oauth_callback"]),
            ["http://localhost:8138/oauth_callback", "http://127.0.0.1:8139/oauth_callback"],
            Nothing,
        ),
        registers(
            "Codex, registered",
            "Codex 0.171.0, recorded here",
            with(native("Codex", &["http://127.0.0.1:8140/callback"]), "application_type", json!("native")),
            ["http://127.0.0.1:8140/callback", "http://127.0.0.1:8141/callback"],
            For("openid profile email offline_access wallets wallet_proof groups"),
        ),
        document(
            "Codex, document",
            "Codex 0.171.0, recorded here; github.com/anomalyco/opencode/pull/47737 names the document",
            native("Codex", &["http://127.0.0.1/callback", "http://localhost/callback"]),
            ["http://127.0.0.1:8140/callback", "http://localhost:8141/callback"],
            For("openid profile email offline_access wallets wallet_proof groups"),
        ),
        registers(
            "Gemini CLI",
            "@google/gemini-cli-core 0.61.0, MCPOAuthProvider, recorded here",
            with(
                native("Gemini CLI MCP Client", &["http://localhost:7777/oauth/callback"]),
                "scope",
                json!(ADVERTISED),
            ),
            ["http://localhost:7777/oauth/callback", "http://localhost:7778/oauth/callback"],
            AllAdvertised,
        ),
        registers(
            "MCP Inspector",
            "MCP Inspector 2.12.0, recorded here",
            with(native("MCP Inspector", &["http://localhost:6274/oauth/callback"]), "scope", json!("")),
            ["http://localhost:6274/oauth/callback"; 2],
            Nothing,
        ),
        registers(
            "the Python SDK, with a scope of an MCP server that is declared elsewhere",
            "github.com/modelcontextprotocol/python-sdk src/mcp/client/auth.py",
            with(native("MCP Client", &["http://localhost:3030/callback"]), "scope", json!("mcp:tools")),
            ["http://localhost:3030/callback"; 2],
            For("openid mcp:tools"),
        ),
    ]
}

/// A client that is known to the server, and what it needs to go on.
struct Known {
    client: Client,
    key: SigningKey,
    /// Where its document is; it has to stay there.
    _document: Option<ClientSite>,
}

fn introduce(site: &Site, recorded: &Recorded) -> Known {
    let key = SigningKey::es256();
    let mut metadata = recorded.metadata.clone();
    if recorded.proves == Proves::KeyForEndpoint {
        metadata["jwks"] = key.jwks();
    }
    if recorded.is_document {
        let document = ClientSite::start(json!(null));
        let id = document.url("/oauth/client.json");
        metadata["client_id"] = json!(id);
        document.publish(metadata);
        return Known {
            client: Client::described_at(id, recorded.redirects[0]),
            key,
            _document: Some(document),
        };
    }
    if metadata["scope"] == json!(ADVERTISED) {
        metadata["scope"] = json!(advertised(site));
    }
    let registered = site.send(&Request::json("/oauth/clients", &metadata)).expect(201).json();
    for uri in recorded
        .redirects
        .iter()
        .filter(|uri| metadata["redirect_uris"].as_array().unwrap().contains(&json!(uri)))
    {
        assert!(
            registered["redirect_uris"].as_array().unwrap().contains(&json!(uri)),
            "{}: {registered}",
            recorded.name
        );
    }
    assert_eq!(registered.get("redirect_uris_left_out"), None, "{}", recorded.name);
    Known { client: Client::of(&registered), key, _document: None }
}

fn ask(known: &Known, redirect_uri: &str, scope: Option<&str>) -> Parameters {
    let request = known.client.shortest_authorization().with("redirect_uri", redirect_uri);
    let request = request.with("resource", MCP_SERVER).with("state", &random_text());
    scope.map_or(request.clone(), |scope| request.with("scope", scope))
}

fn token(site: &Site, recorded: &Recorded, known: &Known, form: &[(&str, &str)]) -> Response {
    let form = Parameters::of(form).with("resource", MCP_SERVER);
    let (id, secret) = (&known.client.id, known.client.secret.as_deref());
    site.send(&match recorded.proves {
        Proves::Nothing => Request::form("/oauth/token", &form.with("client_id", id)),
        Proves::SecretInForm => {
            let form = form.with("client_id", id).with("client_secret", secret.unwrap());
            Request::form("/oauth/token", &form)
        }
        Proves::SecretByBasic => Request::form("/oauth/token", &form).basic(id, secret.unwrap()),
        Proves::KeyForEndpoint => {
            let assertion = known.key.sign(&json!({
                "iss": id, "sub": id, "aud": format!("{}/oauth/token", site.public_url),
                "iat": now(), "exp": now() + 60, "jti": random_text(),
            }));
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            let form = form.with("client_id", id).with("client_assertion_type", kind);
            Request::form("/oauth/token", &form.with("client_assertion", &assertion))
        }
    })
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| !word.is_empty()).collect()
}

/// Asks, signs and gets tokens. Whatever was asked for, the tokens have what the signed text says. Returns the scopes
/// and the refresh token.
fn sign_in(
    site: &Site,
    recorded: &Recorded,
    known: &Known,
    redirect_uri: &str,
    scope: Option<&str>,
) -> (String, String) {
    let name = recorded.name;
    let (mut browser, wallet, asked) = (site.browser(), Wallet::fresh(), ask(known, redirect_uri, scope));
    let begun = browser.authorize(&asked);
    assert_eq!(begun.status, 302, "{name}: {begun:?}");
    assert!(begun.location().contains("/auth"), "{name}: {begun:?}");
    let text = browser.challenge(&asked, &wallet);
    let answered = browser.login(&Browser::login_body(&asked, &wallet, &text)).expect(303);
    assert!(answered.location().starts_with(redirect_uri), "{name}: {answered:?}");
    assert_eq!(answered.answer("state").as_deref(), Some(asked.get("state")), "{name}");
    assert_eq!(answered.answer("iss").as_deref(), Some(&*site.public_url), "{name}");
    let code = answered.answer("code").unwrap();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    let tokens = token(site, recorded, known, &form);
    assert_eq!(tokens.status, 200, "{name}: {tokens:?}");
    let granted = tokens.field("scope");
    let signed: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("- urn:countersign:scope:")).collect();
    assert_eq!(words(&granted), signed, "{name}: the answer says what was signed");
    let claims = claims_of(&tokens.field("access_token"));
    assert_eq!(claims["scope"], json!(granted), "{name}");
    assert!(claims["aud"] == json!(MCP_SERVER) || claims["aud"][0] == json!(MCP_SERVER), "{name}: {claims}");
    assert!(text.contains(&format!("\n- {MCP_SERVER}")), "{name}: {text}");
    (granted, Tokens::of(tokens).refresh)
}

fn declare(database: &Database) {
    let read = format!("{FIRST}=See your tools");
    let write = format!("{STEP_UP}=Change your tools");
    database.operate(&["resource", "create", MCP_SERVER, "--scope", &read, "--scope", &write]);
}

fn advertised(site: &Site) -> String {
    let metadata = site.get("/.well-known/oauth-authorization-server").expect(200).json();
    let scopes = metadata["scopes_supported"].as_array().unwrap();
    scopes.iter().map(|scope| scope.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

on_both! {
    fn every_recorded_client_gets_in_refreshes_comes_again_and_steps_up(database) {
        let server = database.start();
        declare(database);
        let all = advertised(&server);
        assert_eq!(all, format!("openid profile email offline_access {FIRST} {STEP_UP}"));
        for recorded in recorded() {
            let name = recorded.name;
            assert!(!recorded.source.is_empty(), "{name}");
            let known = introduce(&server, &recorded);
            let scope = match recorded.asks {
                Asks::Nothing => None,
                Asks::AllAdvertised => Some(all.as_str()),
                Asks::For(scope) => Some(scope),
            };
            let (granted, refresh_token) = sign_in(&server, &recorded, &known, recorded.redirects[0], scope);
            for unseen in ["groups", "mcp:tools"] {
                assert!(!words(&granted).contains(&unseen), "{name}: {granted}");
            }
            let form = [("grant_type", "refresh_token"), ("refresh_token", &refresh_token)];
            let refreshed = token(&server, &recorded, &known, &form);
            assert_eq!((refreshed.status, refreshed.field("scope")), (200, granted), "{name}: {refreshed:?}");
            let (granted, _) = sign_in(&server, &recorded, &known, recorded.redirects[1], scope);
            // 403 insufficient_scope, scope="tools.write"
            let more = format!("{granted} {STEP_UP}");
            let (stepped_up, _) = sign_in(&server, &recorded, &known, recorded.redirects[1], Some(&more));
            assert!(words(&stepped_up).contains(&STEP_UP), "{name}: {stepped_up}");
        }
    }
}

/// Cursor's three addresses beside one that no client can have: the others are registered, and the answer says why.
#[test]
fn the_answer_to_a_registration_names_the_addresses_that_were_left_out() {
    let server = Server::sqlite();
    let own = format!("{}/oauth/continue", server.public_url);
    let good = ["cursor://anysphere.cursor-mcp/oauth/callback", "http://localhost:8787/callback"];
    let metadata = native("Cursor", &["javascript:alert(1)", good[0], &own, good[1]]);
    let registered = server.send(&Request::json("/oauth/clients", &metadata)).expect(201).json();
    assert_eq!(registered["redirect_uris"], json!(good));
    let left_out = json!([
        {"redirect_uri": "javascript:alert(1)", "reason": "its scheme is not an application's own: a browser runs or shows it itself"},
        {"redirect_uri": own, "reason": "it is on this server's own origin, where no client lives"},
    ]);
    assert_eq!(registered["redirect_uris_left_out"], left_out);
    // The same for a change, and nothing of it for a read.
    let client = Client::of(&registered);
    let path = format!("/oauth/clients/{}", client.id);
    let change = Request::new("PUT", &path).bearer(&client.registration_token);
    let change = change.typed("application/json", metadata.to_string());
    let changed = server.send(&change).expect(200).json();
    assert_eq!((&changed["redirect_uris"], &changed["redirect_uris_left_out"]), (&json!(good), &left_out));
    let read = server.send(&Request::get(&path).bearer(&client.registration_token)).expect(200).json();
    assert_eq!(read.get("redirect_uris_left_out"), None);
    let with_secret =
        with(native("Cursor", &good[..1]), "token_endpoint_auth_method", json!("client_secret_post"));
    let refused = server.send(&Request::json("/oauth/clients", &with_secret));
    assert_eq!(refused.verdict(), "400 invalid_redirect_uri", "without PKCE for sure");
}

/// A stranger's document, with every address that a browser or the system would take elsewhere.
#[test]
fn a_stranger_s_document_leads_only_where_the_page_and_the_text_say() {
    let server = Server::sqlite();
    let document = ClientSite::start(json!(null));
    let mut tried = 0;
    let publish = |path: usize, uris: &[&str]| {
        let id = document.url(&format!("/{path}.json"));
        document.publish(with(native("Stranger", uris), "client_id", json!(id)));
        Client::described_at(id, uris[0])
    };
    let schemes = "javascript data vbscript file blob about view-source filesystem chrome chrome-extension ms-settings \
                   search-ms intent android-app content ws wss ftp sftp ssh telnet ldap smb mailto tel sms facetime \
                   sip xmpp irc market itms-apps itms-services web+evil magnet bitcoin geo webcal matrix wc lightning \
                   openid urn x-apple-systempreferences x-apple.systempreferences applescript help c";
    for (path, scheme) in schemes.split_whitespace().enumerate() {
        for (place, uri) in
            [format!("{scheme}://a.example/cb"), format!("{scheme}:/cb"), format!("{scheme}:cb")]
                .iter()
                .enumerate()
        {
            // Alone, the document describes no client; beside a good address, the bad one is not there.
            let alone = publish(path * 10 + place, &[uri]);
            let refused = server.browser().authorize(&alone.shortest_authorization());
            assert_eq!(refused.status, 400, "{uri}: {refused:?}");
            let beside = publish(path * 10 + 5 + place, &[uri, "http://localhost/cb"]);
            let refused = server.browser().authorize(&beside.shortest_authorization());
            assert_eq!((refused.status, refused.header("location")), (400, None), "{uri}: {refused:?}");
            tried += 2;
        }
    }
    let localhost = publish(9_000, &["http://localhost/cb", "cursor://anysphere.cursor-mcp/oauth/callback"]);
    let own_port = server.address.port();
    for uri in [
        "http://localhost.evil.example/cb",
        "http://localhost:1234@evil.example/cb",
        "http://localhost:1234.evil.example/cb",
        "http://localhost:0123/cb",
        "http://localhost:/cb",
        "http://LOCALHOST:1234/cb",
        "http://localhost.:1234/cb",
        "http://127.0.0.1:1234/cb",
        "https://localhost:1234/cb",
        "http://localhost:1234/cb?code=1",
        "http://localhost:1234/other",
        "cursor://anysphere.cursor-mcp:1234/oauth/callback",
        "cursor://evil.example/oauth/callback",
        "vscode://anysphere.cursor-mcp/oauth/callback",
        &format!("http://localhost:{own_port}/cb"),
    ] {
        let asked = localhost.shortest_authorization().with("redirect_uri", uri);
        let refused = server.browser().authorize(&asked);
        assert_eq!((refused.status, refused.header("location")), (400, None), "{uri}: {refused:?}");
        tried += 1;
    }
    for (uri, page, text) in [
        ("http://localhost:1234/cb", "a program on this computer (localhost:1234)", "http://localhost:1234"),
        (
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "an application on this device (cursor)",
            "cursor:/",
        ),
    ] {
        let asked = localhost.shortest_authorization().with("redirect_uri", uri);
        let mut browser = server.browser();
        browser.authorize(&asked).expect(302);
        let shown = browser.send(Request::get("/auth").header("Accept", "text/html")).expect(200).text();
        assert!(shown.contains(page) && shown.contains("id=\"described\""), "{uri}: {shown}");
        let signed = browser.challenge(&asked, &Wallet::fresh());
        assert!(signed.contains(&format!("Sign in to {page}.")), "{signed}");
        assert!(signed.contains(&format!("\n- {text}\n")), "{signed}");
        let silent = browser.authorize(&asked.clone().with("prompt", "none"));
        assert_eq!(silent.status, 400, "nobody is sent anywhere before the page was shown: {silent:?}");
        let without_pkce =
            asked.without("code_challenge").without("code_challenge_method").with("state", "s");
        let refused = browser.authorize(&without_pkce.with("scope", "openid"));
        assert_eq!(refused.status, 400, "{refused:?}");
        tried += 2;
    }
    println!("{tried} attempts");
}

/// A program that waits on another port of `localhost` gets the answer if the person signs for that port. Without the
/// verifier it gets no tokens, and the client that began finds neither its `state` nor a code.
#[test]
fn a_program_on_another_port_of_localhost_gets_no_tokens() {
    let server = Server::sqlite();
    let recorded =
        recorded().into_iter().find(|recorded| recorded.name.starts_with("Claude Code, document")).unwrap();
    let known = introduce(&server, &recorded);
    let asked = ask(&known, recorded.redirects[0], None);
    // The program changes the port in the link that the client opened.
    let changed = asked.clone().with("redirect_uri", "http://localhost:6666/callback");
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    browser.authorize(&changed).expect(302);
    let text = browser.challenge(&changed, &wallet);
    assert!(text.contains("localhost:6666") && !text.contains("localhost:8135"), "{text}");
    let stolen =
        browser.login(&Browser::login_body(&changed, &wallet, &text)).expect(303).answer("code").unwrap();
    let redeem = |code: &str, uri: &str, verifier: &str| {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", uri),
            ("code_verifier", verifier),
        ];
        token(&server, &recorded, &known, &form)
    };
    let guessed = "A".repeat(43);
    // The code belongs to the port that was signed for, and the wrong verifier ends it for everyone.
    assert_eq!(redeem(&stolen, recorded.redirects[0], VERIFIER).verdict(), "400 invalid_grant");
    assert_eq!(redeem(&stolen, "http://localhost:6666/callback", &guessed).verdict(), "400 invalid_grant");
    assert_eq!(redeem(&stolen, "http://localhost:6666/callback", VERIFIER).verdict(), "400 invalid_grant");
}

/// A person compares the host. It must not be cut into pieces like the address of a wallet. The operator's name for the
/// resource stands before it.
#[test]
fn a_page_shows_a_resource_whole_with_its_host_in_bold() {
    let database = Database::sqlite();
    let server = database.start();
    declare(&database);
    let recorded = recorded().remove(0);
    let known = introduce(&server, &recorded);
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let asked = ask(&known, recorded.redirects[0], None);
    browser.authorize(&asked).expect(302);
    let shown = r#"<bdi class="url" dir="ltr">https://<strong>mcp.example.com</strong>/mcp</bdi>"#;
    let page = browser.send(Request::get("/auth").header("Accept", "text/html")).expect(200).text();
    assert!(page.contains(shown) && page.contains("a program on this computer"), "{page}");
    let text = browser.challenge(&asked, &wallet);
    browser.login(&Browser::login_body(&asked, &wallet, &text).with("remember", "on")).expect(303);
    let account = browser.send(Request::get("/account").header("Accept", "text/html")).expect(200).text();
    assert!(account.contains(shown), "{account}");

    database.operate(&["resource", "update", MCP_SERVER, "--name", "Notes <b>"]);
    let named = format!("<bdi>Notes &lt;b&gt;</bdi> {shown}");
    let account = browser.send(Request::get("/account").header("Accept", "text/html")).expect(200).text();
    assert!(account.contains(&named), "{account}");
    let mut browser = server.browser();
    browser.authorize(&asked).expect(302);
    let page = browser.send(Request::get("/auth").header("Accept", "text/html")).expect(200).text();
    assert!(page.contains(&named), "{page}");
}
