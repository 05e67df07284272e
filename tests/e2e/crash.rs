//! Crashes: what was acknowledged is kept, and requests that fail get an error.

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use countersign_test_postgres::Cluster;
use countersign_tests::load::Load;
use countersign_tests::{Database, Request, Response, Server, Site, Wallet, on_both};

const THREADS: usize = 4;

on_both! {
    /// D-01, D-27: `kill -9` three times under full load.
    fn whatever_was_acknowledged_outlives_kill_9(database) {
        let mut server = database.start();
        let mut ledgers = Vec::new();
        for _ in 0..3 {
            let load = Load::start(&[server.site()], THREADS);
            load.wait_for(200);
            server.kill9();
            ledgers.push(load.stop());
            let started = Instant::now();
            server.restart();
            println!("ready {:?} after the crash", started.elapsed());
        }
        for ledger in ledgers {
            assert!(ledger.acknowledged() >= 200);
            assert_eq!(ledger.unavailable(), 0, "a running server is available");
            ledger.hold_against(&server);
        }
    }

    /// D-14: SIGTERM under load. Every accepted request gets a response, and a request without a response had
    /// no effect.
    fn a_server_that_is_asked_to_stop_finishes_what_it_accepted(database) {
        let mut server = database.start();
        let load = Load::start(&[server.site()], THREADS);
        load.wait_for(200);
        let asked = Instant::now();
        let status = server.terminate();
        println!("stopped after {:?}", asked.elapsed());
        let ledger = load.stop();
        assert!(status.success(), "{status}");
        assert!(asked.elapsed() < Duration::from_secs(30));
        let cut: Vec<_> =
            ledger.broken().into_iter().filter(|(_, kind)| *kind == ErrorKind::UnexpectedEof).collect();
        assert!(cut.is_empty(), "responses that began and did not end: {cut:?}");
        server.restart();
        // A connection that closes before a response begins says nothing about the request, so the request
        // must have had no effect.
        let unanswered = ledger.unanswered.lock().unwrap();
        println!("{} requests to the token endpoint got no response", unanswered.len());
        for request in unanswered.iter() {
            assert_eq!(server.send(request).status, 200, "a code or a token was used up without a response");
        }
        ledger.hold_against(&server);
    }

    /// D-27, B-001: a restart loses nothing. Keys and sessions stay valid.
    fn a_restart_in_the_middle_of_a_sign_in_is_not_noticed(database) {
        let mut server = database.start();
        let client = server.register();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        server.kill9();
        server.restart();
        let challenge = browser.challenge(&authorization, &wallet);
        server.kill9();
        server.restart();
        let body = countersign_tests::Browser::login_body(&authorization, &wallet, &challenge);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        let keys = server.get("/oauth/jwks").expect(200).json();
        server.kill9();
        server.restart();
        assert_eq!(server.get("/oauth/jwks").expect(200).json(), keys);
        assert_eq!(server.exchange(&client, &code).status, 200);
    }
}

/// D-03: during the outage there are only 503s. The server does not restart, and nothing that was
/// acknowledged is lost.
#[test]
fn a_postgresql_that_crashes_and_comes_back_costs_only_503s() {
    let cluster = Arc::new(Cluster::start());
    let mut server = Database::in_cluster(&cluster).start();
    let load = Load::start(&[server.site()], THREADS);
    // Requests wait through a short outage. During a longer one they get a 503.
    for gap in [Duration::from_millis(700), Duration::from_secs(3)] {
        load.wait_for(150);
        cluster.stop_immediate();
        thread::sleep(gap);
        cluster.start_again();
    }
    let returned = Instant::now();
    load.wait_for(150);
    println!("150 responses {:?} after PostgreSQL came back", returned.elapsed());
    let ledger = load.stop();
    assert!(!server.has_ended(), "the server exited");
    assert_eq!(ledger.broken(), [], "connections failed");
    assert!(ledger.unavailable() > 0, "some requests got a 503");
    ledger.hold_against(&server);
}

/// D-04: the database neither responds nor refuses.
#[test]
fn a_postgresql_that_hangs_costs_503s_in_time_and_leaves_the_rest_alone() {
    let cluster = Arc::new(Cluster::start());
    let server = Database::in_cluster(&cluster).start();
    let client = server.register();
    let (code, tokens) = (server.sign_in(&client), server.tokens(&client));
    // The other client was just used, so it is cached for a moment.
    let unasked = server.register();
    let mut browser = server.browser();
    let login = browser.prepare(&client, &Wallet::fresh());
    cluster.pause();
    // The readiness probe asks the database once a second at most.
    thread::sleep(Duration::from_millis(1_100));
    let outcome = std::panic::catch_unwind(|| {
        let requests = [
            Request::query("/oauth/authorize", &unasked.authorization()),
            browser.with_cookies(Request::json("/oauth/login", &login.json())),
            Request::form("/oauth/token", &client.exchange_form(&code)),
            Request::form("/oauth/token", &client.refresh_form(&tokens.refresh)),
            Request::get("/oauth/userinfo").bearer(&tokens.access),
            Request::json("/oauth/revoke", &client.revocation(&tokens.access).json()),
            Site::registration(&serde_json::json!({})),
            Request::get("/health/ready"),
        ];
        for (request, (took, response)) in requests.iter().zip(timed(&server, &requests)) {
            assert_eq!(response.verdict(), "503 temporarily_unavailable", "{}: {response:?}", request.target);
            assert!(took < Duration::from_millis(3500), "{}: {took:?}", request.target);
        }
        for path in ["/oauth/jwks", "/.well-known/openid-configuration", "/health/live"] {
            let started = Instant::now();
            assert_eq!(server.get(path).status, 200, "{path}");
            assert!(started.elapsed() < Duration::from_secs(1), "{path}: {:?}", started.elapsed());
        }
    });
    cluster.resume();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
    let returned = Instant::now();
    while !server.is_ready() {
        assert!(
            returned.elapsed() < Duration::from_secs(5),
            "not ready five seconds after PostgreSQL continued"
        );
        thread::sleep(Duration::from_millis(50));
    }
    // the code is still valid, unless the write had already started and then succeeded.
    let late = server.exchange(&client, &code).verdict();
    assert!(["200", "400 invalid_grant"].contains(&late.as_str()), "{late}");
    assert_eq!(server.userinfo(&server.tokens(&client).access).status, 200);
}

/// D-04: the same with many requests at once. None has to wait for the ones before it.
#[test]
fn a_postgresql_that_hangs_lets_many_wait_no_longer_than_one() {
    let cluster = Arc::new(Cluster::start());
    let server = Database::in_cluster(&cluster).start();
    let client = server.register();
    let access = server.tokens(&client).access;
    cluster.pause();
    let requests = vec![Request::get("/oauth/userinfo").bearer(&access); 100];
    let answers = timed(&server, &requests);
    cluster.resume();
    let slowest = answers.iter().map(|(took, _)| *took).max().unwrap();
    assert!(answers.iter().all(|(_, response)| response.status == 503));
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
}

/// Sends all requests at once, and measures how long each took.
fn timed(server: &Server, requests: &[Request]) -> Vec<(Duration, Response)> {
    thread::scope(|scope| {
        let threads: Vec<_> = requests
            .iter()
            .map(|request| {
                scope.spawn(move || {
                    let started = Instant::now();
                    let response = server.send(request);
                    (started.elapsed(), response)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
