//! The table of all metrics. The page that Prometheus reads and docs/metrics.md are both made from it.

/// The description of one metric.
#[derive(Debug)]
pub struct Description {
    /// The name. A counter's name ends in `_total`.
    pub name: &'static str,
    /// The type, in the words of Prometheus.
    pub kind: MetricKind,
    /// The labels, each with the values that it can have.
    pub labels: &'static [(&'static str, &'static str)],
    /// What the metric means, in one sentence.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only goes up until the process ends.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// Durations in buckets.
    Histogram,
}

impl MetricKind {
    /// The word for it in the text format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// All metrics, in the order of the page.
pub static ALL: [&Description; 28] = [
    &BUILD_INFO,
    &REQUESTS,
    &LOGINS,
    &CHALLENGES,
    &SIGNATURES,
    &TOKENS,
    &TOKEN_ERRORS,
    &CODE_REUSE,
    &REFRESH_REUSE,
    &CLIENTS_REGISTERED,
    &CLIENT_SECRETS,
    &RATE_LIMITED,
    &REFUSED,
    &SIGNING_KEY_AGE,
    &EVENTS_PUSHED,
    &EVENT_PUSH_FAILURES,
    &EVENTS_NOT_PUSHED,
    &EVENTS_PENDING,
    &EVENT_SEAL_WAIT,
    &EVENTS_UNSEALABLE,
    &STORAGE_COMMITS,
    &STORAGE_COMMANDS,
    &STORAGE_FAILURES,
    &STORAGE_LARGEST_BATCH,
    &STORAGE_WAITING,
    &PROCESS_CPU,
    &PROCESS_RESIDENT,
    &PROCESS_START,
];

const FAMILY: (&str, &str) =
    ("family", "the namespace of the wallet's chain: `eip155`, `bip122`, …; `other`");

pub(crate) static BUILD_INFO: Description = Description {
    name: "countersign_build_info",
    kind: MetricKind::Gauge,
    labels: &[("version", "the release")],
    help: "Always 1; the release is in the label.",
};

pub(crate) static REQUESTS: Description = Description {
    name: "http_server_request_duration_seconds",
    kind: MetricKind::Histogram,
    labels: &[
        ("route", "the path as docs/http-api.md writes it; `other` for every path that is not a route"),
        ("method", "`GET`, `HEAD`, `POST`, `PUT`, `DELETE`, `OPTIONS`; `other`"),
        ("status", "`2xx`, `3xx`, `4xx`, `5xx`"),
    ],
    help: "How long requests took until their answer was ready.",
};

pub(crate) static LOGINS: Description = Description {
    name: "countersign_login_total",
    kind: MetricKind::Counter,
    labels: &[
        (
            "result",
            "`signed_in`, `bad_signature`, `bad_challenge` (unknown, too old or used), `refused` (because of what the client or the person asked for), `not_admitted` (the signature was valid, and the operator does not let the wallet in), `unavailable`",
        ),
        FAMILY,
    ],
    help: "Signed challenges that people presented in a browser, by result.",
};

pub(crate) static CHALLENGES: Description = Description {
    name: "countersign_challenge_issued_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Texts to sign that were issued for a sign-in, to people and to programs.",
};

pub(crate) static SIGNATURES: Description = Description {
    name: "countersign_signature_verify_seconds",
    kind: MetricKind::Histogram,
    labels: &[FAMILY, ("result", "`valid`, `invalid`, `unavailable` (a chain did not answer)")],
    help: "How long it took to verify wallet signatures, including those of linked wallets, of programs and at /verify.",
};

pub(crate) static TOKENS: Description = Description {
    name: "countersign_token_issued_total",
    kind: MetricKind::Counter,
    labels: &[("grant", "the grant type: `authorization_code`, `refresh_token`, …")],
    help: "Token responses of the token endpoint.",
};

pub(crate) static TOKEN_ERRORS: Description = Description {
    name: "countersign_token_errors_total",
    kind: MetricKind::Counter,
    labels: &[("error", "the registered code: `invalid_grant`, `invalid_client`, …; `other`")],
    help: "Error responses of the token endpoint.",
};

pub(crate) static CODE_REUSE: Description = Description {
    name: "countersign_code_reuse_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Authorization codes that were presented again; the tokens of the first use are revoked.",
};

pub(crate) static REFRESH_REUSE: Description = Description {
    name: "countersign_refresh_reuse_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Refresh tokens that were presented again after they were replaced; their family is revoked.",
};

pub(crate) static CLIENTS_REGISTERED: Description = Description {
    name: "countersign_client_registered_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Clients that were registered over HTTP.",
};

pub(crate) static CLIENT_SECRETS: Description = Description {
    name: "countersign_client_secret_total",
    kind: MetricKind::Counter,
    labels: &[("secret", "`current`; `old`, one that was replaced and kept for a while")],
    help: "Clients that authenticated with a secret.",
};

pub(crate) static RATE_LIMITED: Description = Description {
    name: "countersign_rate_limited_total",
    kind: MetricKind::Counter,
    labels: &[("limit", "which one: `login`, `challenge`, `registration`, …")],
    help: "Requests that were refused because one address, or all together, made too many.",
};

pub(crate) static REFUSED: Description = Description {
    name: "countersign_refused_total",
    kind: MetricKind::Counter,
    labels: &[("reason", "as in the log: `signature`, `client_authentication`, `code`, …")],
    help: "Requests that were refused, and failures of ours.",
};

pub(crate) static SIGNING_KEY_AGE: Description = Description {
    name: "countersign_signing_key_age_seconds",
    kind: MetricKind::Gauge,
    labels: &[("algorithm", "`ES256`, `EdDSA`, `RS256`")],
    help: "How long the current signing key has been signing.",
};

pub(crate) static EVENTS_PUSHED: Description = Description {
    name: "countersign_event_pushed_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Events that the receiver took (with `event_push_url`).",
};

pub(crate) static EVENT_PUSH_FAILURES: Description = Description {
    name: "countersign_event_push_failures_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Tries to push an event that failed; it is tried again (with `event_push_url`).",
};

pub(crate) static EVENTS_NOT_PUSHED: Description = Description {
    name: "countersign_event_push_lost_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Events that the receiver refused, or did not take for a day, or that were deleted before it took them (with `event_push_url`).",
};

pub(crate) static EVENTS_PENDING: Description = Description {
    name: "countersign_event_push_pending",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "Events that are still to be taken, when this replica last pushed (with `event_push_url`).",
};

pub(crate) static EVENT_SEAL_WAIT: Description = Description {
    name: "countersign_event_seal_wait_seconds",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "How long the event that waits longest to be sealed has waited, as this replica saw it. Above 60, something is wrong.",
};

pub(crate) static EVENTS_UNSEALABLE: Description = Description {
    name: "countersign_event_unsealable",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "Rows among the events that cannot be sealed, up to 100. Above 0, something is wrong.",
};

pub(crate) static STORAGE_COMMITS: Description = Description {
    name: "countersign_storage_commits_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Durable commits of the writer (SQLite).",
};

pub(crate) static STORAGE_COMMANDS: Description = Description {
    name: "countersign_storage_commands_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Commands in those commits; divided by the commits, it is how many share one (SQLite).",
};

pub(crate) static STORAGE_FAILURES: Description = Description {
    name: "countersign_storage_failures_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "Batches of commands that could not be committed (SQLite).",
};

pub(crate) static STORAGE_LARGEST_BATCH: Description = Description {
    name: "countersign_storage_largest_batch",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "The most commands that shared one commit since the start (SQLite).",
};

pub(crate) static STORAGE_WAITING: Description = Description {
    name: "countersign_storage_waiting",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "Commands that are waiting for the writer (SQLite).",
};

pub(crate) static PROCESS_CPU: Description = Description {
    name: "process_cpu_seconds_total",
    kind: MetricKind::Counter,
    labels: &[],
    help: "CPU time of all threads (Linux).",
};

pub(crate) static PROCESS_RESIDENT: Description = Description {
    name: "process_resident_memory_bytes",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "Resident memory of the process (Linux).",
};

pub(crate) static PROCESS_START: Description = Description {
    name: "process_start_time_seconds",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "When the process started, in seconds since 1970 (Linux).",
};
