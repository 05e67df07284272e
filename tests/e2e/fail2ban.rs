//! Debian's `fail2ban` reads the log of a real server with the filter in `contrib/fail2ban`: it finds each request
//! that looks like an attack, by the address that it came from, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use countersign_tests::http::Connection;
use countersign_tests::server::project;
use countersign_tests::{Database, Parameters, Request, Server, Wallet, on_both};

use crate::refusals::{
    Format, PEER, blocked_login, foreign_registration_token, forged_login, forwarded, guessed_user_code,
    lines, refusals, send_hostile, watched,
};

/// How many requests of a flood are refused. `make flood` sends 100,000.
const FLOOD: usize = 5_000;

/// An address that has used up its limits.
const LIMITED: &str = "192.0.2.1";

/// One of fail2ban's programs: the unpacked package's, or the installed one.
fn program(name: &str) -> Command {
    let unpacked = project().join(".tools/fail2ban");
    let path = unpacked.join("usr/bin").join(name);
    if !path.is_file() {
        return Command::new(name);
    }
    let mut command = Command::new("python3");
    command.arg(path).env("PYTHONPATH", unpacked.join("usr/lib/python3/dist-packages"));
    command
}

fn filter() -> PathBuf {
    project().join("contrib/fail2ban/countersign.conf")
}

/// How often `fail2ban-regex` finds each address in a log.
#[track_caller]
fn found_in(log: &Path) -> BTreeMap<String, usize> {
    let output = program("fail2ban-regex")
        .args(["--out", "ip"])
        .args([log, &filter()])
        .output()
        .unwrap_or_else(|error| panic!("fail2ban-regex: {error}: run `make test`, which installs it"));
    let said = String::from_utf8(output.stdout).unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(complained.is_empty() && !said.contains("ERROR"), "{said}\n{complained}");
    let mut counts = BTreeMap::new();
    for address in said.lines() {
        *counts.entry(address.to_owned()).or_default() += 1;
    }
    counts
}

/// The same in what a server has logged.
#[track_caller]
fn found_in_log_of(server: &Server) -> BTreeMap<String, usize> {
    let path = server.database().folder().join("to-be-read.log");
    fs::write(&path, lines(server).join("\n") + "\n").unwrap();
    found_in(&path)
}

/// Requests that look like an attack, each of which can be sent again and again.
fn attacks(server: &Server, database: &Database) -> Vec<Request> {
    let client = server.register();
    let token = |form: Parameters| Request::form("/oauth/token", &form);
    vec![
        forged_login(&mut server.browser(), &client),
        blocked_login(&mut server.browser(), &client, database),
        guessed_user_code(&mut server.browser()),
        foreign_registration_token(&client),
        token(client.exchange_form("c").with("client_secret", "guess")),
        token(Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", "r")]))
            .basic("nobody", "guess"),
        token(client.exchange_form("not a code of this server")),
        token(client.refresh_form("not a refresh token of this server")),
    ]
}

/// What browsers, applications and probes do all day.
fn ordinary(server: &Server) -> Vec<Request> {
    let client = server.register();
    vec![
        Request::get("/.well-known/openid-configuration"),
        Request::get("/health/ready"),
        Request::get("/favicon.ico"),
        Request::get("/wp-login.php").header("Accept", "text/html"),
        Request::query("/oauth/authorize", &client.authorization()),
        Request::query("/oauth/authorize", &client.authorization().with("scope", "everything")),
        Request::get("/oauth/authorize?client_id=nobody").header("Accept", "text/html"),
        // Sessions and tokens that are over.
        Request::get("/auth").header("Accept", "text/html"),
        Request::get("/oauth/userinfo").bearer("a token that is over"),
        Request::json("/oauth/login", &server.browser().prepare(&client, &Wallet::fresh()).json()),
        Request::form("/oauth/token", &client.identify(Parameters::of(&[("grant_type", "password")]))),
    ]
}

on_both! {
    /// Half of the flood goes to a server that logs JSON, and half to one on the same database that logs text.
    fn fail2ban_finds_each_refused_request_of_a_flood_and_nothing_else_and_no_row_is_added(database) {
        let flood = std::env::var("FLOOD").map_or(FLOOD, |count| count.parse().unwrap());
        let began = Instant::now();
        for format in Format::BOTH {
            let server = watched(database, format, "on");
            let (attacks, ordinary) = (attacks(&server, database), ordinary(&server));
            let limited = attacks[5].clone().header("X-Forwarded-For", LIMITED);
            assert!((0..100).any(|_| server.send(&limited).status == 429), "the limit is 60 a minute");
            let mut expected = found_in_log_of(&server);
            assert_eq!(expected.keys().collect::<Vec<_>>(), [LIMITED]);
            let before = database.rows();
            assert!(before["events"] > 0, "events are counted: {before:?}");

            let next = AtomicUsize::new(0);
            let sent: Vec<String> = thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| send_until(&server, (&attacks, &ordinary), &next, flood / 2)))
                    .collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!((sent.len(), database.rows()), (flood / 2, before), "{format:?}");

            for address in sent {
                *expected.entry(address).or_default() += 1;
            }
            let found = found_in_log_of(&server);
            let differing: Vec<_> =
                found.iter().filter(|(address, count)| expected.get(*address) != Some(count)).collect();
            assert!(found == expected, "{format:?}: {} of {}: {differing:?}", found.len(), expected.len());
        }
        println!("{flood} refused requests, each found: {:?}", began.elapsed());
    }
}

/// Sends attacks until there were so many, each from an address of its own except every ninth, and an ordinary
/// request after every fourth. Returns the addresses of the attacks.
fn send_until(
    server: &Server,
    (attacks, ordinary): (&[Request], &[Request]),
    next: &AtomicUsize,
    count: usize,
) -> Vec<String> {
    let mut connection = Connection::open(server.address).unwrap();
    let host = server.authority();
    let mut sent = Vec::new();
    loop {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        if turn >= count {
            return sent;
        }
        let attack = &attacks[turn % attacks.len()];
        let (attack, address) = match turn % 9 {
            8 => (&attacks[5], LIMITED.to_owned()),
            _ => (attack, format!("10.{}.{}.{}", turn >> 16, turn >> 8 & 255, turn & 255)),
        };
        let request = attack.clone().header("X-Forwarded-For", &address);
        let status = connection.send(&host, &request).unwrap().status;
        assert!((400..500).contains(&status), "{status}: {request:?}");
        sent.push(address);
        if turn.is_multiple_of(4) {
            let request = &ordinary[turn / 4 % ordinary.len()];
            let from = format!("198.51.{}.{}", turn >> 8 & 255, turn & 255);
            let status =
                connection.send(&host, &request.clone().header("X-Forwarded-For", &from)).unwrap().status;
            assert!(status < 500, "{status}: {request:?}");
        }
    }
}

/// A line that was forged would be found with the address in it.
#[test]
fn b_074_e_36_fail2ban_never_finds_an_address_that_a_stranger_wrote() {
    for format in Format::BOTH {
        let server = watched(&Database::sqlite(), format, "off");
        send_hostile(&server);
        let attacks = refusals(&server, format);
        let ordinary = [
            "not_admitted",
            "ended",
            "unknown_client",
            "redirect_uri",
            "scope",
            "foreign_page",
            "declined",
            "pending",
            "registration",
            "proof",
            "unsupported",
            "no_such_page",
            "request",
            "conflict",
            "other",
            "failure",
        ]
        .map(Some);
        let attacks = attacks.iter().filter(|refusal| !ordinary.contains(&refusal.field("reason"))).count();
        assert!(attacks >= 40, "{attacks}");
        assert_eq!(found_in_log_of(&server), BTreeMap::from([(PEER.to_owned(), attacks)]), "{format:?}");
    }
}

/// Nobody is banned for a neighbor.
#[test]
fn fail2ban_finds_nothing_while_the_log_shows_networks_only() {
    for format in ["json", "pretty"] {
        let server = Database::sqlite()
            .server()
            .with_env("COUNTERSIGN_TRUSTED_PROXIES", "127.0.0.1/32")
            .with_env("COUNTERSIGN_LOG_FORMAT", format)
            .start();
        let client = server.register();
        let guess = Request::form("/oauth/token", &client.exchange_form("c").with("client_secret", "guess"));
        server.send(&forwarded(guess.clone())).expect(401);
        server.send(&guess.header("X-Forwarded-For", "2001:db8:1:2::3")).expect(401);
        assert_eq!(found_in_log_of(&server), BTreeMap::new(), "{format}");
    }
}

/// The journal puts host, program and process before each line.
#[test]
fn fail2ban_reads_both_formats_from_the_journal_too() {
    for format in Format::BOTH {
        let server = watched(&Database::sqlite(), format, "off");
        let client = server.register();
        let guess = Request::form("/oauth/token", &client.exchange_form("c").with("client_secret", "guess"));
        server.send(&forwarded(guess)).expect(401);
        let path = server.database().folder().join("journal.log");
        let journal: Vec<String> =
            lines(&server).iter().map(|line| format!("host countersign[4711]: {line}\n")).collect();
        fs::write(&path, journal.concat()).unwrap();
        assert_eq!(found_in(&path), BTreeMap::from([(PEER.to_owned(), 1)]), "{format:?}");
    }
}
