//! Asks a chain: JSON-RPC over HTTP, with a limit on everything.
//!
//! A verdict takes one question, and the RPC address has [`ITS_TIME`] to answer it. A sign-in waits behind at
//! most [`IN_FLIGHT`] others, for at most [`OUR_TIME`], and never for an address that failed several times in
//! a row. It never waits for requests made out of curiosity, which have a queue of their own. Redirects are
//! not followed, and a proxy from the environment is not used. The only methods are `eth_call` and, at
//! startup, `eth_chainId`: nothing that changes the chain (B-048, B-049).

mod breaker;
mod endpoint;
mod protocol;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_outbound::{Gate, Late, OutOfReach};
use countersign_ports::VerifierError;
use serde_json::{Value, json};
use ureq::Agent;

pub use endpoint::{RpcEndpoint, RpcEndpointRejected, RpcUrl, RpcUrlRejected};

use super::judge;
use breaker::{Admission, Breaker, PAUSE};
use protocol::Answer;

/// How long an RPC address may take for the question of one verdict. The time starts when the address is
/// asked; waiting before that is on our side (F-16).
const ITS_TIME: Duration = Duration::from_secs(2);
/// How long a sign-in may wait until its question is asked. Together with the address's time, that is the
/// three seconds of D-25.
const OUR_TIME: Duration = Duration::from_secs(1);
/// How long the name lookup and the connection may take.
const CONNECT: Duration = Duration::from_secs(1);
/// How many verdicts for sign-ins are asked for at a time, over all chains (B-083).
const IN_FLIGHT: usize = 10;
/// How many further verdicts are asked for at a time out of curiosity, and not for a sign-in.
const CURIOUS_IN_FLIGHT: usize = 2;
/// How long those may wait until their question is asked.
const CURIOUS_TIME: Duration = Duration::from_millis(500);
/// The longest accepted answer, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;
/// Gas that a contract may use: several times what the most expensive wallets need, and little enough for a
/// node to run at once.
const GAS: &str = "0x989680"; // 10,000,000

/// The caller: an address whose key no one has and that no contract knows. Contracts take a call from the
/// zero address for a simulation and skip checks, and an address that belongs to someone may own something.
///
/// It is the first twenty bytes of the SHA-256 of `countersign: nobody asks this contract`.
const CALLER: [u8; 20] = [
    0xa7, 0x4e, 0x36, 0xaf, 0xfa, 0x45, 0x52, 0xc6, 0x55, 0x5d, 0xdf, 0xc8, 0xeb, 0xda, 0x42, 0xbe, 0xbb,
    0x5d, 0x23, 0x08,
];

/// The chains that can be asked.
#[derive(Debug)]
pub(super) struct Chains {
    lines: BTreeMap<u64, Arc<ChainQueue>>,
    sign_ins: Gate,
    curious: Gate,
}

/// What the answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A sign-in, or a change of someone's wallets, depends on it.
    SignIn,
    /// Someone wants to know, and nothing depends on it.
    Curious,
}

/// The state of one RPC address.
struct ChainQueue {
    endpoint: RpcEndpoint,
    agent: Agent,
    breaker: Mutex<Breaker>,
}

/// A question got no answer. The text names neither URLs nor what was asked.
#[derive(Debug, thiserror::Error)]
#[error("the RPC address for chain {chain} ({url}) cannot be used: {reason}")]
pub(super) struct NoAnswer {
    chain: u64,
    url: String,
    reason: Cow<'static, str>,
    /// The caller could cause this with a contract of their own, so it says nothing about the RPC address.
    can_be_provoked: bool,
}

impl Chains {
    pub(super) fn new(endpoints: Vec<RpcEndpoint>) -> Self {
        let lines =
            endpoints.into_iter().map(|endpoint| (endpoint.chain(), Arc::new(ChainQueue::new(endpoint))));
        Self {
            lines: lines.collect(),
            sign_ins: Gate::apart(IN_FLIGHT, OUR_TIME, ITS_TIME),
            curious: Gate::apart(CURIOUS_IN_FLIGHT, CURIOUS_TIME, ITS_TIME),
        }
    }

    /// True if this chain can be asked.
    pub(super) fn know(&self, chain: u64) -> bool {
        self.lines.contains_key(&chain)
    }

    /// The chains that can be asked, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        let mut ids: Vec<u64> = self.lines.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter()
    }

    /// Has a conversation with a chain, on a thread that may block. An unknown chain does not answer.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        chain: u64,
        asker: Asker,
        questions: impl FnOnce(&Conversation<'_>) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, VerifierError> {
        let Some(line) = self.lines.get(&chain).cloned() else {
            return Err(unavailable("no RPC address is configured for the chain"));
        };
        let gate = match asker {
            Asker::SignIn => &self.sign_ins,
            Asker::Curious => &self.curious,
        };
        match gate.pass(move |deadline| line.converse(asker, deadline, questions)).await {
            Ok(done) => done.map_err(|error| VerifierError::Unavailable(error.into())),
            Err(Late::Busy) => Err(unavailable("too many requests are waiting for RPC addresses")),
            Err(Late::Time) => Err(unavailable("the RPC address did not answer in time")),
            Err(Late::Ended(ended)) => Err(VerifierError::Unavailable(ended.into())),
        }
    }
}

const NO_VERDICT: &str = "its answer is not a verdict";

fn unavailable(reason: &'static str) -> VerifierError {
    VerifierError::Unavailable(reason.into())
}

impl RpcEndpoint {
    /// Asks which chain the address serves. An error says why the address cannot be used; if the chain
    /// numbers differ, it contains both.
    pub async fn check(&self) -> Result<(), VerifierError> {
        Chains::new(vec![self.clone()]).ask(self.chain(), Asker::SignIn, |line| line.check_chain()).await
    }
}

impl ChainQueue {
    fn new(endpoint: RpcEndpoint) -> Self {
        let agent = countersign_outbound::agent(endpoint.reach(), CONNECT, IN_FLIGHT + CURIOUS_IN_FLIGHT);
        Self { endpoint, agent, breaker: Mutex::default() }
    }

    fn converse<T>(
        &self,
        asker: Asker,
        deadline: Instant,
        questions: impl FnOnce(&Conversation<'_>) -> Result<T, NoAnswer>,
    ) -> Result<T, NoAnswer> {
        let admission = match asker {
            Asker::SignIn => self.breaker().admit(Instant::now()),
            Asker::Curious => self.breaker().admit_uncounted(),
        };
        if admission == Admission::LeaveAlone {
            return Err(self.no_answer("it failed several times in a row and is not asked for a while", true));
        }
        let done = questions(&Conversation { line: self, deadline });
        match (asker, &done) {
            (Asker::Curious, _) => {}
            (Asker::SignIn, Err(error)) if !error.can_be_provoked => {
                if self.breaker().failed(Instant::now()) {
                    let chain = self.endpoint.chain();
                    let pause = PAUSE.as_secs();
                    tracing::warn!(
                        chain,
                        rpc = %self.endpoint.url(),
                        %error,
                        "RPC address will not be asked for {pause} s"
                    );
                }
            }
            (Asker::SignIn, Ok(_) | Err(_)) => self.breaker().succeeded(admission),
        }
        done
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_answer(&self, reason: impl Into<Cow<'static, str>>, can_be_provoked: bool) -> NoAnswer {
        NoAnswer {
            chain: self.endpoint.chain(),
            url: self.endpoint.url().to_string(),
            reason: reason.into(),
            can_be_provoked,
        }
    }
}

impl fmt::Debug for ChainQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainQueue").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The question of one verdict.
pub(super) struct Conversation<'a> {
    line: &'a ChainQueue,
    deadline: Instant,
}

impl Conversation<'_> {
    /// Runs the judge on the chain and returns its verdict; `None` if it did not finish. It runs on the
    /// latest block and stores nothing. A verdict from another chain does not count (B-046).
    pub(super) fn judge(&self, question: &judge::Question<'_>) -> Result<Option<judge::Verdict>, NoAnswer> {
        let code = question.constructor();
        let call = json!({ "from": hex_of(&CALLER), "gas": GAS, "data": hex_of(&code) });
        let returned = match self.ask("eth_call", &json!([call, "latest"]))? {
            Answer::Result(result) => protocol::data(&result).ok_or_else(|| self.failure(NO_VERDICT))?,
            Answer::Error { code, message } if protocol::is_the_contracts(code, &message) => return Ok(None),
            Answer::Error { code, message } => {
                /// EIP-1474: the request exceeds a limit of the service.
                const LIMIT_EXCEEDED: i64 = -32_005;
                let reason = format!("error {code}, {}", quoted(&message));
                return Err(self.line.no_answer(reason, code != LIMIT_EXCEEDED));
            }
        };
        let Some(verdict) = judge::Verdict::read(&returned) else { return Err(self.failure(NO_VERDICT)) };
        match verdict.chain {
            Some(chain) if chain == self.line.endpoint.chain() => Ok(Some(verdict)),
            Some(chain) => Err(self.failure(format!("it serves chain {chain}"))),
            None => Err(self.failure("it serves a chain whose number is too large")),
        }
    }

    /// Checks that the address serves the chain that it is configured for. This is for the operator, at
    /// startup; each verdict names its chain itself (B-046).
    fn check_chain(&self) -> Result<(), NoAnswer> {
        let Answer::Result(result) = self.ask("eth_chainId", &json!([]))? else {
            return Err(self.failure("it does not say which chain it serves"));
        };
        match protocol::quantity(&result) {
            Some(chain) if chain == self.line.endpoint.chain() => Ok(()),
            Some(chain) => Err(self.failure(format!("it serves chain {chain}"))),
            None => Err(self.failure("it does not say which chain it serves")),
        }
    }

    fn ask(&self, method: &'static str, params: &Value) -> Result<Answer, NoAnswer> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.failure("it did not answer in time"));
        }
        /// Each connection carries one question at a time, and each question has one answer.
        const ID: u64 = 1;
        let request = self.line.agent.post(self.line.endpoint.url().expose());
        let request = request.config().timeout_global(Some(left)).build().content_type("application/json");
        let mut response = request
            .send(protocol::request(ID, method, params))
            .map_err(|error| self.failure(reason_of(&error)))?;
        let status = response.status();
        if status != 200 {
            return Err(self.failure(format!("it answered with HTTP status {}", status.as_u16())));
        }
        // A verdict has five words, whatever a contract returns.
        let body = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.failure(reason_of(&error)))?;
        protocol::read(&body, ID).map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: impl Into<Cow<'static, str>>) -> NoAnswer {
        self.line.no_answer(reason, false)
    }
}

fn hex_of(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// The beginning of a foreign text, on one line.
fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(100).collect::<String>())
}

/// What went wrong, in words that never contain a URL.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library may add errors, and some of its texts contain URLs"
)]
fn reason_of(error: &ureq::Error) -> Cow<'static, str> {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".into(),
        ureq::Error::HostNotFound => "its host name is unknown".into(),
        ureq::Error::ConnectionFailed => "connecting to it failed".into(),
        ureq::Error::BodyExceedsLimit(_) => "its answer is longer than 64 KiB".into(),
        ureq::Error::Io(error) => format!("{error}").into(),
        ureq::Error::Rustls(error) => format!("{error}").into(),
        ureq::Error::Other(error) if error.is::<OutOfReach>() => error.to_string().into(),
        _ => "the HTTP request failed".into(),
    }
}
