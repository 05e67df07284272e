//! The server as a supervisor sees it: start, readiness, signals, exit codes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::place::Place;
use crate::server::Server;

#[test]
fn d_14_a_signal_turns_readiness_to_503_and_ends_the_server_with_0() {
    for name in ["TERM", "INT"] {
        let place = Place::new();
        let mut server = Server::start(&place, &[]);
        assert_eq!(server.readiness(), Some(200));
        server.signal(name);
        let begun = Instant::now();
        let mut seen = Vec::new();
        while let Some(status) = server.readiness() {
            seen.push(status);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(seen.contains(&503), "{seen:?}");
        let (code, log) = server.end();
        assert_eq!(code, Some(0), "{log}");
        assert!(begun.elapsed() < Duration::from_secs(30) && log.contains("\"stopped\""), "{log}");
    }
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let place = Place::new();
    let mut server = Server::start(&place, &[]);
    server.signal("TERM");
    // Wait until the first signal is handled; the kernel would merge two pending ones into one.
    while server.readiness() == Some(200) {}
    server.signal("TERM");
    let begun = Instant::now();
    let (code, log) = server.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(begun.elapsed() < Duration::from_millis(900) && log.contains("second signal"), "{log}");
}

#[test]
fn what_check_config_warns_about_is_logged_at_the_start() {
    let place = Place::with_database();
    let database = place.path("data/countersign.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let checked = place.run(&["check-config", "--bind", "0.0.0.0:8080"]);
    let mut server = Server::spawn(place.command(&["serve", "--bind", "0.0.0.0:0"]));
    for words in ["can be reached from the network, but public_url is", "countersign.db has mode 644"] {
        let warned = checked.out.lines().any(|line| line.starts_with("warning: ") && line.contains(words));
        assert!(checked.code == 0 && warned, "{words}: {}", checked.out);
        assert!(server.first_lines.contains(words), "{words}: {}", server.first_lines);
    }
    assert!(!checked.out.lines().any(|line| line == "ok"), "{}", checked.out);
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_server_that_is_started_again_has_the_same_secret_and_key() {
    let place = Place::new();
    let jwks = |server: &Server| {
        let mut connection = TcpStream::connect(server.address).unwrap();
        let request = "GET /oauth/jwks HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    let mut keys = Vec::new();
    for _ in 0..2 {
        let mut server = Server::start(&place, &[]);
        keys.push(jwks(&server));
        server.signal("TERM");
        assert_eq!(server.end().0, Some(0));
    }
    assert!(keys[0].contains("\"kid\"") && keys[0] == keys[1], "{keys:?}");
    let other = "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned();
    let ended = place.run_with(&["serve", "--bind", "127.0.0.1:0"], &[("COUNTERSIGN_SECRET", &other)]);
    assert!(ended.code == 1 && ended.err.contains("the secret differs"), "{}", ended.err);
}

#[test]
fn a_port_that_is_taken_is_one_clear_line_and_no_database() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = place.run(&["serve", "--bind", &address]);
    let line =
        format!("countersign: failed to listen on {address} (bind): Address already in use (os error 98)\n");
    assert_eq!((ended.code, ended.err), (1, line));
    assert!(!place.path("data").exists());
}

#[test]
fn postgresql_that_does_not_answer_is_asked_for_half_a_minute_and_its_password_is_never_told() {
    let place = Place::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://ann:hunter2@{closed}/auth");
    let secret = "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned();
    let begun = Instant::now();
    let ended = place.run_with(
        &["serve", "--bind", "127.0.0.1:0"],
        &[("COUNTERSIGN_DATABASE_URL", &url), ("COUNTERSIGN_SECRET", &secret)],
    );
    let progress =
        ended.err.lines().filter(|line| line.contains("database does not answer; trying for")).count();
    assert_eq!(ended.code, 1);
    assert!(progress >= 10 && (25..40).contains(&begun.elapsed().as_secs()), "{}", ended.err);
    assert!(
        ended
            .err
            .lines()
            .last()
            .unwrap()
            .starts_with("countersign: failed to open the database postgres://ann:…@")
    );
    assert!(!ended.err.contains("hunter2"), "{}", ended.err);
}

#[test]
fn a_signal_ends_the_wait_for_a_database() {
    let place = Place::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://ann:hunter2@{closed}/auth");
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0"]);
    command
        .env("COUNTERSIGN_DATABASE_URL", url)
        .env("COUNTERSIGN_SECRET", "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut server = Server { child, log, address: closed, first_lines: String::new() };
    let mut line = String::new();
    server.log.read_line(&mut line).unwrap();
    assert!(line.contains("database does not answer"), "{line}");
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
}

/// As `make run PORT=8133` does: the server's settings are in its environment, and a command beside it has none of them.
#[test]
fn a_command_beside_a_server_prints_the_issuer_of_that_server_unless_its_settings_name_one() {
    let place = Place::with_database();
    let mut server = Server::start(&place, &[]);
    let create =
        ["client", "create", "--name", "x", "--redirect-uri", "http://127.0.0.1/cb", "--output", "env"];
    let url = format!("http://localhost:{}", server.address.port());
    let issuer = |variables: &[(&str, &str)]| {
        let ended = place.run_with(&create, variables);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.out.lines().next().unwrap().to_owned()
    };
    // The server writes down that it runs a moment after it listens.
    let deadline = Instant::now() + Duration::from_secs(10);
    while issuer(&[]) != format!("ISSUER={url}") {
        assert!(Instant::now() < deadline, "{}", issuer(&[]));
    }
    assert_eq!(issuer(&[("COUNTERSIGN_PUBLIC_URL", "https://a.example")]), "ISSUER=https://a.example");
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
    assert_eq!(issuer(&[]), "ISSUER=http://localhost:8080", "it said that it stopped");
}
