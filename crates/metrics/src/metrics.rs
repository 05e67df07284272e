//! Everything that is counted, and the page that shows it.

use std::fmt;
use std::time::Duration;

use countersign_domain::error::OAuthErrorCode;
use countersign_domain::figure::Figure;
use countersign_domain::grant_type::GrantType;
use countersign_domain::refusal::RefusedFor;
use countersign_ports::{FigureTotal, Figures};

use crate::counter::Counter;
use crate::histogram::Histogram;
use crate::labelled::Labelled;
use crate::process::{self, Process};
use crate::source::Source;
use crate::table;
use crate::text::Text;

/// The media type of the page, for the `Content-Type` header.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The methods that have a label value of their own. The last is for all others.
pub const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "other"];
const STATUSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// The CAIP-2 namespaces of the wallets in this release. A binary with wallets of its own counts them as
/// `other`.
const FAMILIES: [&str; 6] = ["eip155", "bip122", "solana", "tron", "cosmos", "other"];

/// The error codes of the token endpoint.
const TOKEN_ERRORS: [&str; 16] = [
    "access_denied",
    "authorization_pending",
    "expired_token",
    "invalid_client",
    "invalid_dpop_proof",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "server_error",
    "slow_down",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_grant_type",
    "use_dpop_nonce",
    "other",
];

/// The times by which responses are counted for the desk, each ten times as long as the one before. The last is for all that
/// took longer.
const STEPS: [(&str, Option<Duration>); 5] = [
    ("< 1 ms", Some(Duration::from_millis(1))),
    ("< 10 ms", Some(Duration::from_millis(10))),
    ("< 100 ms", Some(Duration::from_millis(100))),
    ("< 1 s", Some(Duration::from_secs(1))),
    ("> 1 s", None),
];

/// What came of a signed challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginResult {
    /// The signature was valid, and the person is signed in.
    SignedIn,
    /// The signature was not valid.
    BadSignature,
    /// The text is not one of ours, has expired, or was used before.
    BadChallenge,
    /// The client, or something else in the request, was refused.
    Refused,
    /// The signature was valid, and the operator does not let the wallet in.
    NotAdmitted,
    /// No verdict was possible, or nothing could be stored.
    Unavailable,
}

impl LoginResult {
    const NAMES: [&str; 6] =
        ["signed_in", "bad_signature", "bad_challenge", "refused", "not_admitted", "unavailable"];
}

/// All counters. They are made once at the start, and all workers share them.
pub struct Metrics {
    version: &'static str,
    started: Option<f64>,
    requests: Labelled<Histogram, 3>,
    logins: Labelled<Counter, 2>,
    /// Texts to sign that were issued.
    pub challenges: Counter,
    pub(crate) signatures: Labelled<Histogram, 2>,
    tokens: Labelled<Counter, 1>,
    token_errors: Labelled<Counter, 1>,
    /// Authorization codes that were presented again.
    pub code_reuse: Counter,
    /// Refresh tokens that were presented again.
    pub refresh_reuse: Counter,
    /// Clients that were registered.
    pub clients_registered: Counter,
    /// Requests that were refused because there were too many, per limit.
    pub rate_limited: Labelled<Counter, 1>,
    refused: Labelled<Counter, 1>,
    source: Box<dyn Source>,
}

/// The label values of a request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The index of the route in the list given to [`Metrics::new`].
    pub route: usize,
    /// The index of the method in [`METHODS`].
    pub method: usize,
    /// The status of the response.
    pub status: u16,
}

impl Metrics {
    /// Makes counters that start at zero, for a server with these routes and these limits. The last route is
    /// for every path that is not a route.
    pub fn new(
        version: &'static str,
        routes: &[&'static str],
        limits: &[&'static str],
        source: Box<dyn Source>,
    ) -> Self {
        Self {
            version,
            started: process::started(),
            requests: Labelled::new([routes, &METHODS, &STATUSES]),
            logins: Labelled::new([&LoginResult::NAMES, &FAMILIES]),
            challenges: Counter::default(),
            signatures: Labelled::new([&FAMILIES, &["valid", "invalid", "unavailable"]]),
            tokens: Labelled::new([&GrantType::ALL.map(GrantType::name)]),
            token_errors: Labelled::new([&TOKEN_ERRORS]),
            code_reuse: Counter::default(),
            refresh_reuse: Counter::default(),
            clients_registered: Counter::default(),
            rate_limited: Labelled::new([limits]),
            refused: Labelled::new([&RefusedFor::ALL.map(RefusedFor::name)]),
            source,
        }
    }

    /// Counts a request and how long its response took.
    pub fn answered(&self, Request { route, method, status }: Request, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(2);
        self.requests.at([route, method, class]).record(took);
    }

    /// Counts a signed challenge that was presented by a wallet of this family.
    pub fn login(&self, result: LoginResult, family: &str) {
        self.logins.of([LoginResult::NAMES[result as usize], family]).count();
    }

    /// Counts a token response.
    pub fn token_issued(&self, grant_type: GrantType) {
        self.tokens.of([grant_type.name()]).count();
    }

    /// Counts an error response of the token endpoint.
    pub fn token_refused(&self, code: OAuthErrorCode) {
        self.token_errors.of([code.name()]).count();
    }

    /// Counts a refused request.
    pub fn refused(&self, refused_for: RefusedFor) {
        self.refused.at([refused_for as usize]).count();
    }

    /// How many responses took how long: for each of [`STEPS`], those that are in none before it.
    fn answered_in_steps(&self) -> [(&'static str, u64); STEPS.len()] {
        let mut steps = STEPS.map(|(name, _)| (name, 0));
        for reading in self.requests.iter().filter_map(|(_, histogram)| histogram.read()) {
            let mut before = 0;
            for ((_, count), (_, time)) in steps.iter_mut().zip(STEPS) {
                let within = reading.up_to(time);
                *count += within - before;
                before = within;
            }
        }
        steps
    }

    /// Writes the page that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = Text::default();
        text.each(&table::BUILD_INFO, [([self.version], 1)]);
        text.histograms(&table::REQUESTS, &self.requests);
        text.counters(&table::LOGINS, &self.logins);
        text.single(&table::CHALLENGES, self.challenges.read());
        text.histograms(&table::SIGNATURES, &self.signatures);
        text.counters(&table::TOKENS, &self.tokens);
        text.counters(&table::TOKEN_ERRORS, &self.token_errors);
        text.single(&table::CODE_REUSE, self.code_reuse.read());
        text.single(&table::REFRESH_REUSE, self.refresh_reuse.read());
        text.single(&table::CLIENTS_REGISTERED, self.clients_registered.read());
        let secrets = self.source.secret_uses();
        text.each(&table::CLIENT_SECRETS, [(["current"], secrets.current), (["old"], secrets.old)]);
        text.counters(&table::RATE_LIMITED, &self.rate_limited);
        text.counters(&table::REFUSED, &self.refused);
        let ages = self.source.signing_key_ages();
        text.each(&table::SIGNING_KEY_AGE, ages.into_iter().map(|(name, age)| ([name], age.as_secs())));
        let pushes = self.source.pushes();
        text.single(&table::EVENTS_PUSHED, pushes.taken);
        text.single(&table::EVENT_PUSH_FAILURES, pushes.failed);
        text.single(&table::EVENTS_NOT_PUSHED, pushes.lost);
        text.single(&table::EVENTS_PENDING, pushes.pending);
        let seals = self.source.seals();
        text.single(&table::EVENT_SEAL_WAIT, seals.waited.as_secs());
        text.single(&table::EVENTS_UNSEALABLE, seals.unsealable);
        if let Some(writer) = self.source.writer() {
            text.single(&table::STORAGE_COMMITS, writer.commits);
            text.single(&table::STORAGE_COMMANDS, writer.commands);
            text.single(&table::STORAGE_FAILURES, writer.failures);
            text.single(&table::STORAGE_LARGEST_BATCH, writer.largest_batch);
            text.single(&table::STORAGE_WAITING, writer.waiting);
        }
        if let Some(process) = Process::look() {
            text.single(&table::PROCESS_CPU, process.cpu);
            text.single(&table::PROCESS_RESIDENT, process.resident);
        }
        if let Some(started) = self.started {
            text.single(&table::PROCESS_START, started);
        }
        text.finish()
    }
}

impl Figures for Metrics {
    fn totals(&self) -> Vec<FigureTotal> {
        let of = |figure| move |(label, total)| FigureTotal { figure, label, total };
        let refused = self.refused.iter().map(|([reason], counter)| (reason, counter.read()));
        let tokens = self.tokens.iter().map(|([grant], counter)| (grant, counter.read()));
        let refused = refused.map(of(Figure::Refusals));
        refused
            .chain(tokens.map(of(Figure::Tokens)))
            .chain(self.answered_in_steps().into_iter().map(of(Figure::Latency)))
            .collect()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("version", &self.version).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
