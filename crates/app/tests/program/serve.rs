//! The server as a supervisor meets it: start, readiness, signals, exit codes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr};
use std::time::{Duration, Instant};

use crate::place::Place;
use serde_json::Value;

/// A server that said where it listens.
struct Server {
    child: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Server {
    fn start(place: &Place, variables: &[(&str, &str)]) -> Self {
        let mut command = place.command(&["--bind", "127.0.0.1:0"]);
        let mut child = command.envs(variables.iter().copied()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut server = Self { child, log, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(server.log.read_line(&mut line).unwrap(), 0, "the server ended: {seen}");
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["message"] == "listening" {
                server.address = event["address"].as_str().unwrap().parse().unwrap();
                return server;
            }
            seen.push_str(&line);
        }
    }

    fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// The status of the readiness probe; `None`: nobody listens any more.
    fn readiness(&self) -> Option<u16> {
        let mut connection = TcpStream::connect(self.address).ok()?;
        let request = "GET /health/ready HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    /// The exit code, and the rest of the log.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.log.read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already in every test that passes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
    // The first is taken before the second comes, or the kernel would make one of two.
    while server.readiness() == Some(200) {}
    server.signal("TERM");
    let begun = Instant::now();
    let (code, log) = server.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(begun.elapsed() < Duration::from_millis(900) && log.contains("second signal"), "{log}");
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
    let other = "E".repeat(43);
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
    let secret = "E".repeat(43);
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
    command.env("COUNTERSIGN_DATABASE_URL", url).env("COUNTERSIGN_SECRET", "E".repeat(43));
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut server = Server { child, log, address: closed };
    let mut line = String::new();
    server.log.read_line(&mut line).unwrap();
    assert!(line.contains("database does not answer"), "{line}");
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
}
