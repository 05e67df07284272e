//! What happens on the wire before a request is read as OAuth (A-020, A-087, B-079, B-081, B-084).

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::http::Connection;
use countersign_tests::{Request, Response, Server};
use serde_json::json;

const FORM: &str = "application/x-www-form-urlencoded";

/// Sends bytes as they are.
fn raw(server: &Server, bytes: &str) -> io::Result<Response> {
    let mut connection = Connection::open(server.address)?;
    connection.write(bytes.as_bytes())?;
    connection.read("POST")
}

#[test]
fn a_020_a_body_over_64_kib_is_413() {
    let server = Server::sqlite();
    let client = server.register();
    let big = "x".repeat(64 * 1024);
    for request in [
        Request::json("/oauth/clients", &json!({"client_name": big})),
        Request::json("/oauth/challenge", &json!({"wallet_address": big})),
        Request::json("/oauth/login", &json!({"challenge": big})),
        Request::json("/oauth/revoke", &client.revocation(&big).json()),
        Request::form("/oauth/token", &client.exchange_form(&big)),
        Request::form("/oauth/authorize", &client.authorization().with("anything", &big)),
    ] {
        assert_eq!(server.send(&request).status, 413, "{}", request.target);
    }
    // The same without announcing the length.
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 70_000, "x".repeat(70_000));
    let head = format!(
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    assert_eq!(raw(&server, &format!("{head}{chunk}")).unwrap().status, 413);
    assert_eq!(server.get("/health/live").status, 200);
}

/// A-020, B-079: a request that announces too much is refused at once.
#[test]
fn a_020_a_body_that_is_announced_as_too_long_is_413_before_it_comes() {
    let server = Server::sqlite();
    let started = Instant::now();
    let announced = format!(
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 9999999999\r\n\r\na"
    );
    assert_eq!(raw(&server, &announced).unwrap().status, 413, "after {:?}", started.elapsed());
}

/// A-087.
#[test]
fn a_087_strange_headers_are_refused_and_never_500() {
    let server = Server::sqlite();
    let access = server.tokens(&server.register()).access;
    for value in [
        "Bearer \u{e9}\u{20ac}",
        &format!("Bearer {}", "a".repeat(9 * 1024)),
        "Basic x",
        "Digest a=b",
        "Bearer a b c",
    ] {
        let response = server.send(&Request::get("/oauth/userinfo").header("Authorization", value));
        assert!((400..500).contains(&response.status), "{value:.40}: {response:?}");
    }
    let twice = Request::get("/oauth/userinfo").bearer(&access).bearer(&access);
    assert!((400..500).contains(&server.send(&twice).status));
    for (name, value) in
        [("Cookie", "oauth_session"), ("Cookie", "=;=;;"), ("Accept", "\u{e9};q=9"), ("Content-Type", ";;;")]
    {
        let response = server.send(&Request::new("POST", "/oauth/login").header(name, value));
        assert!((400..500).contains(&response.status), "{name}: {response:?}");
    }
}

/// B-079.
#[test]
fn b_079_headers_and_addresses_have_an_end() {
    let server = Server::sqlite();
    let many: String = (0..200).map(|number| format!("X-Header-{number}: 1\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "a".repeat(40_000));
    for (what, headers) in [("too many", many), ("too long", long)] {
        let answer = raw(&server, &format!("GET /health/live HTTP/1.1\r\nHost: x\r\n{headers}\r\n"));
        let refused = answer.as_ref().is_ok_and(|response| matches!(response.status, 400 | 413 | 431))
            || answer.is_err();
        assert!(refused, "{what}: {answer:?}");
    }
    let path = |length: usize| {
        raw(&server, &format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(length))).unwrap().status
    };
    assert!(matches!(path(17_000), 414 | 431));
    assert!(matches!(path(60_000), 414 | 431));
    // Beyond 65,534 bytes, the HTTP parser itself gives up and has no better status.
    assert!(matches!(path(70_000), 400 | 414 | 431));
    assert_eq!(server.get("/health/live").status, 200);
}

/// B-079, D-21: sending a header byte by byte does not keep the connection open forever.
#[test]
fn b_079_a_request_that_does_not_end_is_ended() {
    let server = Server::sqlite();
    let started = Instant::now();
    let mut connection = Connection::open(server.address).unwrap();
    connection.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n").unwrap();
    let answer = connection.read("GET");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert!(answer.is_err() || answer.is_ok_and(|response| response.status == 408));
}

/// B-079: the same for a body.
#[test]
fn b_079_a_body_that_does_not_come_is_not_waited_for() {
    let server = Server::sqlite();
    let started = Instant::now();
    let mut connection = Connection::open(server.address).unwrap();
    let head = format!(
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 100\r\n\r\na=b"
    );
    connection.write(head.as_bytes()).unwrap();
    let answer = connection.read("POST");
    assert!(started.elapsed() < Duration::from_secs(35), "{:?}", started.elapsed());
    assert!(
        answer.as_ref().is_err() || answer.as_ref().is_ok_and(|response| response.status == 408),
        "{answer:?}"
    );
}

/// B-084: compressed bodies are not unpacked.
#[test]
fn b_084_a_compressed_body_is_415() {
    let server = Server::sqlite();
    let client = server.register();
    for encoding in ["gzip", "br", "deflate", "zstd", "identity, gzip"] {
        for request in [
            Request::form("/oauth/token", &client.exchange_form("x")),
            Request::json(
                "/oauth/clients",
                &json!({"client_name": "x", "redirect_uris": ["https://client.example/cb"]}),
            ),
            Request::json("/oauth/revoke", &client.revocation("x").json()),
        ] {
            let response = server.send(&request.clone().header("Content-Encoding", encoding));
            assert_eq!(response.verdict(), "415 invalid_request", "{encoding} at {}", request.target);
        }
    }
    let identity =
        Request::form("/oauth/token", &client.exchange_form("x")).header("Content-Encoding", "identity");
    assert_eq!(server.send(&identity).verdict(), "400 invalid_grant");
}

/// B-081: a request that can be read in two ways is refused, and the connection is closed.
#[test]
fn b_081_an_ambiguous_request_is_400_and_ends_the_connection() {
    let server = Server::sqlite();
    let smuggled = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    let head = format!("POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\n");
    let ambiguous = [
        (
            "both lengths",
            format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"),
        ),
        (
            "the other order",
            format!("{head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{smuggled}"),
        ),
        ("two lengths", format!("{head}Content-Length: 3\r\nContent-Length: 4\r\n\r\na=b{smuggled}")),
        ("a length that is no number", format!("{head}Content-Length: +3\r\n\r\na=b{smuggled}")),
        ("an unknown encoding", format!("{head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{smuggled}")),
        ("a space before the colon", format!("{head}Content-Length : 3\r\n\r\na=b{smuggled}")),
        ("a folded header", format!("{head}X: a\r\n b\r\nContent-Length: 3\r\n\r\na=b{smuggled}")),
    ];
    for (what, bytes) in ambiguous {
        let mut connection = Connection::open(server.address).unwrap();
        connection.write(bytes.as_bytes()).unwrap();
        match connection.read("POST") {
            Ok(response) => assert_eq!(response.status, 400, "{what}: {response:?}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{what}: {error}"),
        }
        let second = connection.read("GET");
        assert!(second.is_err(), "{what}: a second request was answered: {second:?}");
    }
}

/// D-13: a client that goes away leaves a code that is spent exactly if its tokens exist.
#[test]
fn d_13_a_client_that_goes_away_leaves_nothing_half_done() {
    let server = Server::sqlite();
    let client = server.register();
    for pause in [0, 1, 2, 5, 10, 20] {
        let code = server.sign_in(&client);
        let before = server.database().rows()["tokens"];
        let body = client.exchange_form(&code).encoded();
        let head = format!(
            "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut connection = Connection::open(server.address).unwrap();
        connection.write(format!("{head}{body}").as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(pause));
        drop(connection);
        // The interrupted request is finished by the time the next exchange of the same code gets its
        // response.
        let again = server.exchange(&client, &code).verdict();
        let after = server.database().rows()["tokens"];
        let expected = if again == "200" || again == "400 invalid_grant" { 1 } else { 0 };
        assert_eq!(after - before, expected, "{again}");
    }
}
