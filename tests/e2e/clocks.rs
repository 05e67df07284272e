//! Servers with wrong clocks (libfaketime, Debian's package `faketime`): F-18, D-10, B-001.
//!
//! No signature, code or refresh token works twice, and nothing that is still valid is lost. The clock is a
//! minute, two hours or forty days ahead or behind, from the start or from a moment while the server runs. On
//! SQLite, the machine's clock is the only one; on PostgreSQL, the server is one of two.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use countersign_tests::clock::library;
use countersign_tests::server::Settings;
use countersign_tests::{Browser, Client, Database, Parameters, Request, Response, Server, Tokens, Wallet};

const MINUTE: i64 = 60;
const TWO_HOURS: i64 = 7_200;
const FORTY_DAYS: i64 = 40 * 86_400;
const OFFSETS: [i64; 6] = [MINUTE, -MINUTE, TWO_HOURS, -TWO_HOURS, FORTY_DAYS, -FORTY_DAYS];
/// Cleanup runs every ten seconds on average.
const TWO_ROUNDS: Duration = Duration::from_secs(26);

/// A server's clock, offset from the machine's by what a file says.
struct Clock(PathBuf);

impl Clock {
    fn of(database: &Database, name: &str) -> Self {
        let clock = Self(database.folder().join(name));
        clock.is_off_by(0);
        clock
    }

    fn is_off_by(&self, seconds: i64) {
        fs::write(&self.0, format!("{seconds:+}\n")).unwrap();
    }

    fn on(&self, settings: Settings) -> Settings {
        settings
            .with_env("LD_PRELOAD", library())
            .with_env("FAKETIME_TIMESTAMP_FILE", &self.0.display().to_string())
            .with_env("FAKETIME_CACHE_DURATION", "1")
            .with_env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .with_env("DONT_FAKE_MONOTONIC", "1")
            .with_env("NO_FAKE_STAT", "1")
    }
}

/// What an eavesdropper could present again, and what must not be lost.
struct Before {
    client: Client,
    browser: Browser,
    login: Parameters,
    redeemed: String,
    rotated: String,
    unused: String,
    living: Tokens,
}

/// Sign-ins of every kind.
fn before(server: &Server) -> Before {
    let client = server.register();
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let login = browser.prepare(&client, &wallet);
    let mut copy = browser.clone();
    let redeemed = copy.login(&login).expect(303).answer("code").unwrap();
    Tokens::of(server.exchange(&client, &redeemed));
    let rotated = server.tokens(&client);
    server.refresh(&client, &rotated.refresh).expect(200);
    let unused = server.sign_in(&client);
    let living = server.tokens(&client);
    Before { client, browser, login, redeemed, rotated: rotated.refresh, unused, living }
}

impl Before {
    /// The used signature does not work, whatever the clock says.
    fn signature_is_spent(&self, server: &Server) {
        let request = Request::json("/oauth/login", &self.login.json());
        let answer: Response = server.send(&self.browser.with_cookies(request));
        assert!(
            ["401 access_denied", "400 invalid_request"].contains(&answer.verdict().as_str()),
            "B-001: {answer:?}"
        );
    }

    /// With the right clock, what is still valid works, and what was used does not.
    fn nothing_is_lost_and_nothing_works_twice(&self, server: &Server, what: &str) {
        self.signature_is_spent(server);
        assert_eq!(server.userinfo(&self.living.access).status, 200, "{what}: a valid access token");
        Tokens::of(server.refresh(&self.client, &self.living.refresh));
        let again = server.exchange(&self.client, &self.redeemed);
        assert_eq!(again.verdict(), "400 invalid_grant", "{what}: a code");
        let again = server.refresh(&self.client, &self.rotated);
        assert_eq!(again.verdict(), "400 invalid_grant", "{what}: a rotated refresh token");
    }
}

fn each(offsets: &[i64], run: impl Fn(i64) + Sync) {
    thread::scope(|scope| {
        let threads: Vec<_> = offsets.iter().map(|offset| scope.spawn(|| run(*offset))).collect();
        for (thread, offset) in threads.into_iter().zip(offsets) {
            assert!(thread.join().is_ok(), "the clock is off by {offset} s");
        }
    });
}

fn log_of(server: &Server) -> String {
    String::from_utf8_lossy(&server.log()).into_owned()
}

/// F-18, B-001: the server reports it, and deletes expired rows as usual once the clock is right again.
#[test]
fn a_clock_that_jumps_while_the_server_runs_forgets_nothing_that_counts() {
    each(&OFFSETS, |offset| {
        let database = Database::sqlite();
        let clock = Clock::of(&database, "clock");
        let server = clock.on(database.server()).start();
        let before = before(&server);
        let grants = database.number("SELECT count(*) FROM grants");
        clock.is_off_by(offset);
        thread::sleep(TWO_ROUNDS);
        before.signature_is_spent(&server);
        assert_eq!(database.number("SELECT count(*) FROM grants"), grants, "{offset}");
        let ready = server.get("/health/ready").expect(200).json();
        assert_eq!(ready.get("clock").is_some(), offset.abs() > MINUTE, "{ready}");
        clock.is_off_by(0);
        thread::sleep(Duration::from_millis(2_500));
        before.nothing_is_lost_and_nothing_works_twice(&server, &offset.to_string());
        assert_eq!(log_of(&server).contains("--clock-is-right"), offset.abs() > MINUTE, "{offset}");
        assert_eq!(server.get("/health/ready").expect(200).json().get("clock"), None);
    });
}

/// F-18: the machine starts with a wrong clock, which is corrected later.
#[test]
fn a_start_with_another_clock_forgets_nothing_that_counts() {
    each(&[TWO_HOURS, -TWO_HOURS, FORTY_DAYS, -FORTY_DAYS], |offset| {
        let database = Database::sqlite();
        let clock = Clock::of(&database, "clock");
        let mut server = clock.on(database.server()).start();
        let before = before(&server);
        let rows = database.number("SELECT (SELECT count(*) FROM grants) + (SELECT count(*) FROM tokens)");
        server.kill9();
        clock.is_off_by(offset);
        server.restart();
        assert!(log_of(&server).contains("--clock-is-right"), "{offset}");
        thread::sleep(TWO_ROUNDS);
        before.signature_is_spent(&server);
        assert_eq!(
            database.number("SELECT (SELECT count(*) FROM grants) + (SELECT count(*) FROM tokens)"),
            rows,
            "{offset}"
        );
        server.kill9();
        clock.is_off_by(0);
        server.restart();
        before.nothing_is_lost_and_nothing_works_twice(&server, &offset.to_string());
        assert_eq!(server.get("/health/ready").expect(200).json().get("clock"), None, "{offset}");
    });
}

/// F-21: the keeper of events takes the same bound as upkeep. The machine starts with a clock that is beyond the time of
/// every event, and the first look for old events comes with the first round of sealing.
#[test]
fn a_start_with_a_clock_after_the_time_of_all_events_deletes_none() {
    each(&[0, 1], |postgres| {
        let database = if postgres == 1 { Database::postgres() } else { Database::sqlite() };
        let clock = Clock::of(&database, "clock");
        let mut server = clock.on(database.server()).start();
        let client = server.register();
        for _ in 0..3 {
            server.tokens(&client);
        }
        let sealed = || database.number("SELECT count(*) FROM events");
        while sealed() < 3 || database.number("SELECT count(*) FROM fresh_events") > 0 {
            thread::sleep(Duration::from_millis(200));
        }
        let before = sealed();
        server.kill9();
        clock.is_off_by(91 * 86_400);
        server.restart();
        thread::sleep(TWO_ROUNDS);
        assert!(sealed() >= before, "{postgres}: {before} events were sealed, {} are left", sealed());
        assert!(!log_of(&server).contains("their time was over"), "{postgres}");
    });
}

/// F-18, D-10: one of two servers on PostgreSQL has a wrong clock, from its start or from a moment while it
/// runs. Both use the database's clock. So each accepts what the other issued, and what has expired has
/// expired for both.
#[test]
fn one_of_two_servers_with_another_clock_forgets_nothing_and_refuses_nothing() {
    each(&OFFSETS, |offset| {
        let database = Database::postgres();
        let right = database.start();
        let clock = Clock::of(&database, "clock");
        let settings = clock.on(database.server()).with_public_url(&right.public_url);
        clock.is_off_by(offset);
        let wrong = settings.start();
        let before = before(&right);
        let rows = || database.number("SELECT (SELECT count(*) FROM grants) + (SELECT count(*) FROM tokens)");
        let stored = rows();
        thread::sleep(TWO_ROUNDS);
        assert!(rows() >= stored, "{offset}");
        before.signature_is_spent(&right);
        before.signature_is_spent(&wrong);
        assert_eq!(wrong.userinfo(&before.living.access).status, 200, "{offset}");
        let ready = wrong.get("/health/ready").expect(200).json();
        assert!(ready["clock"].as_str().is_some_and(|clock| clock.ends_with("the database's")), "{ready}");
        assert_eq!(right.get("/health/ready").expect(200).json().get("clock"), None);
        // D-10: each server accepts what the other issued, at once.
        for (issuer, taker) in [(&right, &wrong), (&wrong, &right)] {
            for _ in 0..5 {
                let tokens = Tokens::of(taker.exchange(&before.client, &issuer.sign_in(&before.client)));
                assert_eq!(issuer.userinfo(&tokens.access).status, 200, "{offset}");
                let tokens = Tokens::of(issuer.refresh(&before.client, &tokens.refresh));
                assert_eq!(taker.userinfo(&tokens.access).status, 200, "{offset}");
            }
        }
        // The unredeemed code is about a minute old. Both servers refuse it once it is older.
        thread::sleep(Duration::from_secs(62).saturating_sub(TWO_ROUNDS));
        for server in [&wrong, &right] {
            assert_eq!(server.exchange(&before.client, &before.unused).verdict(), "400 invalid_grant");
        }
        clock.is_off_by(-offset);
        thread::sleep(Duration::from_millis(2_500));
        before.nothing_is_lost_and_nothing_works_twice(&wrong, &offset.to_string());
        assert!(log_of(&wrong).contains("differs from the database's"), "{offset}");
    });
}
