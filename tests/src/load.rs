//! Many sign-ins at once, and a ledger of everything that was acknowledged.
//!
//! If a client has read a complete response, it must hold forever. If it got no response, or a 503, the
//! request may or may not have taken effect. The ledger keeps track of everything else.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::browser::Browser;
use crate::http::{Parameters, Request, Response};
use crate::site::{Client, Site, Tokens};
use crate::wallet::Wallet;

/// How many threads check what was acknowledged.
const CHECKERS: usize = 4;

/// One sign-in, as far as it was acknowledged.
#[derive(Debug)]
pub struct Flow {
    /// The client that the user signs in for.
    pub client: Client,
    /// The browser before the login, and the login that it sent.
    pub login: (Browser, Parameters),
    /// The code that the login returned.
    pub code: String,
    /// The responses of the token endpoint, oldest first.
    pub tokens: Vec<Tokens>,
    /// Was the token family revoked?
    pub revoked: bool,
    /// Did the last request get no response?
    pub doubtful: bool,
}

/// What was acknowledged, and what else happened.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Clients that were registered.
    pub clients: Mutex<Vec<Client>>,
    /// Sign-ins that reached a code.
    pub flows: Mutex<Vec<Flow>>,
    /// Requests that got the expected response.
    pub acknowledged: AtomicUsize,
    /// Requests that got a 503.
    pub unavailable: AtomicUsize,
    /// Requests whose connection failed, and how.
    pub broken: Mutex<Vec<(String, io::ErrorKind)>>,
    /// Requests to the token endpoint that got no response at all.
    pub unanswered: Mutex<Vec<Request>>,
    /// When the last expected response was read, and the longest time between two of them.
    gap: Mutex<(Option<Instant>, Duration)>,
    /// The slowest response of any kind.
    slowest: Mutex<Duration>,
}

/// Threads that sign users in until they are told to stop.
#[derive(Debug)]
pub struct Load {
    ledger: Arc<Ledger>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts this many threads, spread over these sites.
    pub fn start(sites: &[Site], threads: usize) -> Self {
        Self::start_with_pauses(sites, threads, Duration::ZERO)
    }

    /// The same, with a pause after each sign-in, for a load that is long: everything is checked afterwards.
    pub fn start_with_pauses(sites: &[Site], threads: usize, pause: Duration) -> Self {
        Self::of((0..threads).map(|number| vec![sites[number % sites.len()].clone()]), pause)
    }

    /// Starts this many threads. Each sends every request to another one of these sites than the request before, and
    /// pauses after each sign-in.
    pub fn across(sites: &[Site], threads: usize, pause: Duration) -> Self {
        Self::of((0..threads).map(|_| sites.to_vec()), pause)
    }

    /// Starts a thread for each of these, which sends its requests to one site after the other.
    fn of(threads: impl Iterator<Item = Vec<Site>>, pause: Duration) -> Self {
        let (ledger, over) = (Arc::<Ledger>::default(), Arc::<AtomicBool>::default());
        let threads = threads.map(|sites| {
            let (site, ledger, over) = (Sites::of(sites), Arc::clone(&ledger), Arc::clone(&over));
            thread::spawn(move || {
                let mut client = None;
                for round in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    if round % 8 == 0 || client.is_none() {
                        client = ledger.register(&site);
                    }
                    let done = client.as_ref().and_then(|client| ledger.sign_in(&site, client, round));
                    // If the server is down for a moment, asking again at once would be useless.
                    thread::sleep(if done.is_none() { pause.max(Duration::from_millis(10)) } else { pause });
                }
            })
        });
        let threads = threads.collect();
        Self { ledger, over, threads }
    }

    /// Waits for this many more requests with the expected response.
    #[track_caller]
    pub fn wait_for(&self, more: usize) {
        let (goal, deadline) = (self.ledger.acknowledged() + more, Instant::now() + Duration::from_secs(60));
        while self.ledger.acknowledged() < goal {
            assert!(
                Instant::now() < deadline,
                "{} of {goal} responses after a minute",
                self.ledger.acknowledged()
            );
            assert!(
                !self.threads.iter().all(JoinHandle::is_finished),
                "every thread of the load has stopped"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Stops the threads. If one of them got a wrong response, the test fails here.
    pub fn stop(self) -> Arc<Ledger> {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        self.ledger
    }
}

impl Ledger {
    fn register(&self, site: &Sites) -> Option<Client> {
        // The name says how often the client was changed since.
        let named = serde_json::json!({"client_name": "Album 0"});
        let registered = self.send(site, &Site::registration(&named), 201)?;
        let client = Site::client(&registered);
        lock(&self.clients).push(client.clone());
        Some(client)
    }

    /// One whole flow. It stops as soon as a response is missing.
    fn sign_in(&self, site: &Sites, client: &Client, round: usize) -> Option<()> {
        let (mut browser, wallet) = (site.next().browser(), Wallet::fresh());
        let authorization = client.authorization();
        let begun = self.send(site, &Request::query("/oauth/authorize", &authorization), 302)?;
        browser.keep(&begun);
        let request = browser.with_cookies(Browser::challenge_request(&authorization, &wallet.address()));
        let issued = self.send(site, &request, 200)?;
        browser.keep(&issued);
        let body = Browser::login_body(&authorization, &wallet, &issued.field("challenge"));
        let request = browser.with_cookies(Request::json("/oauth/login", &body.json()));
        let signed_in = self.send(site, &request, 303)?;
        let code = signed_in.answer("code").unwrap_or_else(|| panic!("there is no code in {signed_in:?}"));
        let mut flow = Flow {
            client: client.clone(),
            login: (browser, body),
            code,
            tokens: Vec::new(),
            revoked: false,
            doubtful: false,
        };
        flow.doubtful = self.use_code(site, &mut flow, round).is_none();
        lock(&self.flows).push(flow);
        Some(())
    }

    fn use_code(&self, site: &Sites, flow: &mut Flow, round: usize) -> Option<()> {
        let request = Request::form("/oauth/token", &flow.client.exchange_form(&flow.code));
        let exchanged = self.send(site, &request, 200)?;
        flow.tokens.push(Tokens::of(exchanged));
        for _ in 0..round % 3 {
            let newest = &flow.tokens[flow.tokens.len() - 1];
            let request = Request::form("/oauth/token", &flow.client.refresh_form(&newest.refresh));
            let refreshed = self.send(site, &request, 200)?;
            flow.tokens.push(Tokens::of(refreshed));
        }
        let newest = flow.tokens[flow.tokens.len() - 1].clone();
        self.send(site, &Request::get("/oauth/userinfo").bearer(&newest.access), 200)?;
        if round % 4 == 3 {
            let body = flow.client.revocation(&newest.refresh).json();
            self.send(site, &Request::json("/oauth/revoke", &body), 200)?;
            flow.revoked = true;
        }
        Some(())
    }

    /// Sends a request. Returns `None` if there was no response, or a 503. Any other unexpected status fails
    /// the test.
    fn send(&self, site: &Sites, request: &Request, status: u16) -> Option<Response> {
        let sent = Instant::now();
        let answer = site.next().try_send(request);
        let took = sent.elapsed();
        {
            let mut slowest = lock(&self.slowest);
            *slowest = took.max(*slowest);
        }
        match answer {
            Ok(response) if response.status == 503 => {
                assert_eq!(response.error(), "temporarily_unavailable", "{response:?}");
                assert!(response.header("Retry-After").is_some(), "{response:?}");
                self.unavailable.fetch_add(1, Ordering::Relaxed);
                None
            }
            Ok(response) => {
                let response = response.expect(status);
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
                self.measure_gap();
                Some(response)
            }
            Err(error) => {
                if request.target == "/oauth/token" {
                    lock(&self.unanswered).push(request.clone());
                }
                lock(&self.broken)
                    .push((request.target.split('?').next().unwrap_or_default().to_owned(), error.kind()));
                None
            }
        }
    }

    fn measure_gap(&self) {
        let (last, gap) = &mut *lock(&self.gap);
        let now = Instant::now();
        *gap = last.replace(now).map_or(*gap, |last| (*gap).max(now - last));
    }

    /// How many requests got the expected response.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// How many requests got a 503.
    pub fn unavailable(&self) -> usize {
        self.unavailable.load(Ordering::Relaxed)
    }

    /// The longest time in which no request got the expected response.
    pub fn longest_gap(&self) -> Duration {
        lock(&self.gap).1
    }

    /// The time that the slowest response took.
    pub fn slowest(&self) -> Duration {
        *lock(&self.slowest)
    }

    /// Connections that failed.
    pub fn broken(&self) -> Vec<(String, io::ErrorKind)> {
        lock(&self.broken).clone()
    }

    /// Checks with the server that everything that was acknowledged still holds (D-01, D-03, D-27). At the
    /// end it presents used tokens, which revokes the families.
    pub fn hold_against(&self, site: &Site) {
        for client in lock(&self.clients).iter() {
            let begun = site.browser().authorize(&client.authorization());
            assert_eq!(begun.status, 302, "a registered client is missing: {begun:?}");
            assert!(begun.answer("error").is_none(), "a registered client is missing: {begun:?}");
        }
        let flows = lock(&self.flows);
        thread::scope(|scope| {
            for some in flows.chunks(flows.len().div_ceil(CHECKERS).max(1)) {
                scope.spawn(|| some.iter().for_each(|flow| flow.hold_against(site)));
            }
        });
    }
}

impl Flow {
    fn hold_against(&self, site: &Site) {
        let (mut browser, body) = (self.login.0.clone(), &self.login.1);
        browser.site = site.clone();
        assert_eq!(browser.login(body).verdict(), "401 access_denied", "a used challenge was accepted again");
        let Some(newest) = self.tokens.last() else { return };
        if self.revoked {
            for tokens in &self.tokens {
                assert_eq!(
                    site.userinfo(&tokens.access).verdict(),
                    "401 invalid_token",
                    "a revocation was lost"
                );
            }
            assert_eq!(
                site.refresh(&self.client, &newest.refresh).verdict(),
                "400 invalid_grant",
                "a revocation was lost"
            );
        } else if !self.doubtful {
            for tokens in &self.tokens {
                assert_eq!(site.userinfo(&tokens.access).status, 200, "an acknowledged token was lost");
            }
            assert_eq!(
                site.refresh(&self.client, &newest.refresh).status,
                200,
                "an acknowledged refresh token was lost"
            );
        }
        let rotated = self.tokens.len().checked_sub(2).map(|before| &self.tokens[before].refresh);
        if let Some(rotated) = rotated {
            assert_eq!(
                site.refresh(&self.client, rotated).verdict(),
                "400 invalid_grant",
                "a rotation was lost"
            );
        }
        assert_eq!(
            site.exchange(&self.client, &self.code).verdict(),
            "400 invalid_grant",
            "a used code was accepted again"
        );
    }
}

/// The sites that a thread sends its requests to, in turn.
#[derive(Debug)]
struct Sites {
    all: Vec<Site>,
    sent: AtomicUsize,
}

impl Sites {
    const fn of(all: Vec<Site>) -> Self {
        Self { all, sent: AtomicUsize::new(0) }
    }

    fn next(&self) -> &Site {
        &self.all[self.sent.fetch_add(1, Ordering::Relaxed) % self.all.len()]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
