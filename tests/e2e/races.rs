//! Many requests at once: one wins, whoever sends it and whichever process handles it (D-05, D-06, D-08).

use std::sync::Barrier;
use std::thread;

use countersign_tests::http::Connection;
use countersign_tests::{Client, Database, Request, Response, Server, Site, Tokens, Wallet, on_both};

const AT_ONCE: usize = 64;
const ROUNDS: usize = 8;

on_both! {
    /// D-05, A-065, A-071.
    fn of_many_exchanges_of_one_code_one_wins_and_its_family_dies(database) {
        let servers = processes(database);
        let client = servers[0].register();
        for round in 0..ROUNDS {
            let code = servers[0].sign_in(&client);
            let answers = at_once(&servers, AT_ONCE, &Request::form("/oauth/token", &client.exchange_form(&code)));
            let winner = the_only_winner(&answers, 200, "400 invalid_grant", round);
            expect_dead(&servers, &client, &Tokens::of(winner));
        }
    }

    /// D-06, A-074: without grace.
    fn of_many_refreshes_with_one_token_one_wins_and_the_family_dies(database) {
        let servers = processes(database);
        let client = servers[0].register();
        for round in 0..ROUNDS {
            let tokens = servers[0].tokens(&client);
            let answers = at_once(&servers, AT_ONCE, &Request::form("/oauth/token", &client.refresh_form(&tokens.refresh)));
            let winner = the_only_winner(&answers, 200, "400 invalid_grant", round);
            expect_dead(&servers, &client, &Tokens::of(winner));
            expect_dead(&servers, &client, &tokens);
        }
    }

    /// D-08, B-011.
    fn of_many_logins_with_one_challenge_one_wins(database) {
        let servers = processes(database);
        let client = servers[0].register();
        for round in 0..ROUNDS {
            let mut browser = servers[0].browser();
            let body = browser.prepare(&client, &Wallet::fresh());
            let request = browser.with_cookies(Request::json("/oauth/login", &body.json()));
            let winner = the_only_winner(&at_once(&servers, AT_ONCE, &request), 303, "401 access_denied", round);
            let code = winner.answer("code").unwrap();
            assert_eq!(servers[0].exchange(&client, &code).status, 200, "the winner's code is good");
        }
    }

    /// B-030: two simultaneous first logins with one wallet create one user.
    fn many_first_logins_of_one_wallet_make_one_user(database) {
        let servers = processes(database);
        let (client, wallet) = (servers[0].register(), Wallet::fresh());
        let requests: Vec<Request> = (0..16)
            .map(|_| {
                let mut browser = servers[0].browser();
                let body = browser.prepare(&client, &wallet);
                browser.with_cookies(Request::json("/oauth/login", &body.json()))
            })
            .collect();
        let answers = all_at_once(&servers, &requests);
        let subjects: Vec<String> = answers
            .into_iter()
            .map(|answer| {
                let code = answer.expect(303).answer("code").unwrap();
                let tokens = Tokens::of(servers[0].exchange(&client, &code));
                servers[0].userinfo(&tokens.access).field("sub")
            })
            .collect();
        assert!(subjects.iter().all(|subject| *subject == subjects[0]), "{subjects:?}");
        assert_eq!(database.number("SELECT count(*) FROM users"), 1);
    }

    /// D-07: once a revocation has its response, no process accepts the token.
    fn a_revocation_that_races_with_refreshes_wins(database) {
        let servers = processes(database);
        let client = servers[0].register();
        for _ in 0..ROUNDS {
            let tokens = servers[0].tokens(&client);
            let mut requests = vec![Request::form("/oauth/token", &client.refresh_form(&tokens.refresh)); 7];
            requests.push(Request::json("/oauth/revoke", &client.revocation(&tokens.refresh).json()));
            let mut answers = all_at_once(&servers, &requests);
            let revoked = answers.pop().unwrap();
            assert_eq!(revoked.status, 200);
            expect_dead(&servers, &client, &tokens);
            for refreshed in answers.into_iter().filter(|answer| answer.status == 200) {
                expect_dead(&servers, &client, &Tokens::of(refreshed));
            }
        }
    }

    /// every process caches what a token means once it was asked about it (ADR 0028). Whether
    /// the token has ended is never cached.
    fn a_token_that_every_process_knows_is_dead_with_the_answer(database) {
        let here = database.start();
        let servers = [here.replica(), here];
        let [there, here] = &servers;
        let known = |client: &Client| {
            let tokens = here.tokens(client);
            for server in [here, there, here, there] {
                server.userinfo(&tokens.access).expect(200);
            }
            tokens
        };
        let client = here.register();
        for _ in 0..ROUNDS {
            let tokens = known(&client);
            assert_eq!(there.revoke(&client, &tokens.access).status, 200);
            for server in [here, there] {
                assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token");
            }
            assert_eq!(here.refresh(&client, &tokens.refresh).status, 200, "its family stays valid");
            let tokens = known(&client);
            assert_eq!(there.revoke(&client, &tokens.refresh).status, 200);
            expect_dead(&servers, &client, &tokens);
        }
        let tokens = known(&client);
        let path = format!("/oauth/clients/{}", client.id);
        assert_eq!(there.send(&Request::new("DELETE", &path).bearer(&client.registration_token)).status, 204);
        for server in &servers {
            assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token");
        }
    }

    /// the response with the successor may have been lost. The successor is replaced, and there is one
    /// live branch.
    fn a_public_client_may_present_a_rotated_token_again_while_its_successor_is_unused(database) {
        let server = database.start();
        let client = server.register_public();
        let first = server.tokens(&client);
        let lost = Tokens::of(server.refresh(&client, &first.refresh));
        let second = Tokens::of(server.refresh(&client, &first.refresh));
        assert_eq!(server.userinfo(&lost.access).verdict(), "401 invalid_token", "the successor is replaced");
        assert_eq!(server.userinfo(&second.access).status, 200);
        let third = Tokens::of(server.refresh(&client, &second.refresh));
        assert_eq!(server.userinfo(&third.access).status, 200);
        // Now that its successor has been used, the first token must come from a copy.
        assert_eq!(server.refresh(&client, &first.refresh).verdict(), "400 invalid_grant");
        assert_eq!(server.userinfo(&third.access).verdict(), "401 invalid_token", "the family is revoked");
        assert_eq!(server.refresh(&client, &third.refresh).verdict(), "400 invalid_grant");
    }

    /// the replaced successor is itself a copy.
    fn a_replaced_successor_ends_the_family(database) {
        let server = database.start();
        let client = server.register_public();
        let first = server.tokens(&client);
        let lost = Tokens::of(server.refresh(&client, &first.refresh));
        let second = Tokens::of(server.refresh(&client, &first.refresh));
        assert_eq!(server.refresh(&client, &lost.refresh).verdict(), "400 invalid_grant");
        assert_eq!(server.userinfo(&second.access).verdict(), "401 invalid_token");
    }

    /// A-075 and D-06: several tabs of one public client refresh at once. Each presents the token within the
    /// grace period and before its successor is used, so the family stays valid, with one branch.
    fn many_refreshes_of_a_public_client_at_once_leave_one_live_branch(database) {
        let servers = processes(database);
        let client = servers[0].register_public();
        for round in 0..ROUNDS {
            let tokens = servers[0].tokens(&client);
            let answers = at_once(&servers, 8, &Request::form("/oauth/token", &client.refresh_form(&tokens.refresh)));
            let verdicts: Vec<String> = answers.iter().map(Response::verdict).collect();
            let branches: Vec<Tokens> =
                answers.into_iter().filter(|answer| answer.status == 200).map(Tokens::of).collect();
            let live: Vec<&Tokens> =
                branches.iter().filter(|branch| servers[0].userinfo(&branch.access).status == 200).collect();
            assert_eq!(live.len(), 1, "round {round}: live branches of {verdicts:?}");
            assert_eq!(servers[0].refresh(&client, &live[0].refresh).status, 200, "round {round}: {verdicts:?}");
        }
    }

    /// a client with a secret has no grace period, so it can refresh once with each token.
    fn a_client_with_a_secret_has_no_grace(database) {
        let server = database.start();
        let client = server.register();
        let first = server.tokens(&client);
        let second = Tokens::of(server.refresh(&client, &first.refresh));
        assert_eq!(server.refresh(&client, &first.refresh).verdict(), "400 invalid_grant");
        expect_dead(&[server], &client, &second);
    }
}

/// Two processes with PostgreSQL, one with SQLite.
fn processes(database: &Database) -> Vec<Server> {
    let first = database.start();
    if database.is_postgres() {
        let second = first.replica();
        vec![first, second]
    } else {
        vec![first]
    }
}

/// Sends the same request this many times, spread over the processes.
fn at_once(servers: &[Server], count: usize, request: &Request) -> Vec<Response> {
    all_at_once(servers, &vec![request.clone(); count])
}

/// All connections are open before the first request is sent.
fn all_at_once(servers: &[Server], requests: &[Request]) -> Vec<Response> {
    let barrier = Barrier::new(requests.len());
    let sites: Vec<Site> = servers.iter().map(Server::site).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = requests
            .iter()
            .enumerate()
            .map(|(number, request)| {
                let (site, barrier) = (&sites[number % sites.len()], &barrier);
                scope.spawn(move || {
                    let mut connection = Connection::open(site.address).unwrap();
                    barrier.wait();
                    let response = connection.send_last(&site.authority(), request).unwrap();
                    site.secrets.learn_response(&response);
                    response
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[track_caller]
fn the_only_winner(answers: &[Response], won: u16, lost: &str, round: usize) -> Response {
    let winners: Vec<&Response> = answers.iter().filter(|answer| answer.status == won).collect();
    let others: Vec<String> = answers
        .iter()
        .filter(|answer| answer.status != won)
        .map(Response::verdict)
        .filter(|verdict| verdict != lost)
        .collect();
    assert_eq!(
        (winners.len(), others.as_slice()),
        (1, [].as_slice()),
        "round {round}: one winner, the rest {lost}"
    );
    winners[0].clone()
}

/// Revoked on every process at once: userinfo and refresh fail.
#[track_caller]
fn expect_dead(servers: &[Server], client: &Client, tokens: &Tokens) {
    for server in servers {
        assert_eq!(server.userinfo(&tokens.access).verdict(), "401 invalid_token");
        assert_eq!(server.refresh(client, &tokens.refresh).verdict(), "400 invalid_grant");
    }
}
