//! Asking a chain: JSON-RPC over HTTP, with a bound on everything.
//!
//! One verdict may take [`TOTAL`], however many questions it needs. Who asks waits neither for more than
//! [`IN_FLIGHT`] others nor for an address that failed again and again. Redirects are not followed, a proxy of the
//! environment is not used, and what is asked is `eth_chainId`, `eth_getCode` and `eth_call`: nothing that lasts (B-048, B-049).

mod breaker;
mod endpoint;
mod protocol;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_outbound::{Gate, Late, OutOfReach};
use countersign_ports::VerifierError;
use serde_json::{Value, json};
use ureq::Agent;

pub use endpoint::{RpcEndpoint, RpcEndpointRejected, RpcUrl, RpcUrlRejected};

use super::Address;
use breaker::{Admission, Breaker, PAUSE};
use protocol::Answer;

/// How long all the questions of one verdict may take together, waiting included (B-048, D-25).
const TOTAL: Duration = Duration::from_secs(3);
/// How long looking a name up, and connecting, may take.
const CONNECT: Duration = Duration::from_secs(1);
/// How many verdicts are asked for at a time, over all chains (B-083).
const IN_FLIGHT: usize = 10;
/// How many bytes an answer may have.
const MAX_ANSWER: u64 = 64 * 1024;
/// What a contract may use up: several times what the dearest wallets need, and little enough for a node to do in no time.
const GAS: &str = "0x989680"; // 10,000,000

/// The chains that can be asked.
#[derive(Debug)]
pub(super) struct Chains {
    lines: BTreeMap<u64, Arc<Line>>,
    gate: Gate,
}

/// One RPC address.
struct Line {
    endpoint: RpcEndpoint,
    agent: Agent,
    breaker: Mutex<Breaker>,
}

/// A question found no answer. The text names neither URLs nor what was asked.
#[derive(Debug, thiserror::Error)]
#[error("the RPC address for chain {chain} ({url}) cannot be used: {reason}")]
pub(super) struct NoAnswer {
    chain: u64,
    url: String,
    reason: Cow<'static, str>,
    /// Whoever asks could bring this about with a contract of their own, so it says nothing about the address.
    can_be_provoked: bool,
}

impl Chains {
    pub(super) fn new(endpoints: Vec<RpcEndpoint>) -> Self {
        let lines = endpoints.into_iter().map(|endpoint| (endpoint.chain(), Arc::new(Line::new(endpoint))));
        Self { lines: lines.collect(), gate: Gate::new(IN_FLIGHT, TOTAL) }
    }

    /// Can this chain be asked?
    pub(super) fn know(&self, chain: u64) -> bool {
        self.lines.contains_key(&chain)
    }

    /// The chains that can be asked, in their order.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        let mut ids: Vec<u64> = self.lines.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter()
    }

    /// Has a conversation with a chain, on a thread that may block. A chain that is not known does not answer.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        chain: u64,
        questions: impl FnOnce(&Conversation<'_>) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, VerifierError> {
        let Some(line) = self.lines.get(&chain).cloned() else {
            return Err(unavailable("no RPC address is configured for the chain"));
        };
        match self.gate.pass(move |deadline| line.converse(deadline, questions)).await {
            Ok(done) => done.map_err(|error| VerifierError::Unavailable(error.into())),
            Err(Late::Busy) => Err(unavailable("too many wait for RPC addresses")),
            Err(Late::Time) => Err(unavailable("the RPC address did not answer in time")),
            Err(Late::Ended(ended)) => Err(VerifierError::Unavailable(ended.into())),
        }
    }
}

fn unavailable(reason: &'static str) -> VerifierError {
    VerifierError::Unavailable(reason.into())
}

impl RpcEndpoint {
    /// Asks which chain it speaks for. An error says why it cannot be used; both numbers are in it where they differ.
    pub async fn check(&self) -> Result<(), VerifierError> {
        // The first conversation begins with this question.
        Chains::new(vec![self.clone()]).ask(self.chain(), |_| Ok(())).await
    }
}

impl Line {
    fn new(endpoint: RpcEndpoint) -> Self {
        let agent = countersign_outbound::agent(endpoint.reach(), CONNECT, IN_FLIGHT);
        Self { endpoint, agent, breaker: Mutex::default() }
    }

    fn converse<T>(
        &self,
        deadline: Instant,
        questions: impl FnOnce(&Conversation<'_>) -> Result<T, NoAnswer>,
    ) -> Result<T, NoAnswer> {
        let conversation = Conversation { line: self, deadline, asked: Cell::new(0) };
        let admission = self.breaker().admit(Instant::now());
        let done = match admission {
            Admission::LeaveAlone => {
                return Err(self.no_answer("it failed again and again and is left alone for a while", true));
            }
            Admission::AskForItsChain => conversation.check_chain().and_then(|()| questions(&conversation)),
            Admission::Ask => questions(&conversation),
        };
        match &done {
            Err(error) if !error.can_be_provoked => {
                if self.breaker().failed(Instant::now()) {
                    let chain = self.endpoint.chain();
                    let pause = PAUSE.as_secs();
                    tracing::warn!(chain, rpc = %self.endpoint.url(), %error, "RPC address is not asked for {pause} s");
                }
            }
            Ok(_) | Err(_) => self.breaker().succeeded(admission),
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

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The questions of one verdict, which share one deadline.
pub(super) struct Conversation<'a> {
    line: &'a Line,
    deadline: Instant,
    asked: Cell<u64>,
}

impl Conversation<'_> {
    /// Is there a contract at this address?
    pub(super) fn has_code(&self, address: &Address) -> Result<bool, NoAnswer> {
        match self.ask("eth_getCode", &json!([hex_of(address.bytes()), "latest"]))? {
            Answer::Result(result) => match protocol::data(&result) {
                Some(code) => Ok(!code.is_empty()),
                None => Err(self.failure("it answered with something else than code")),
            },
            Answer::Error { code, message } => {
                Err(self.failure(format!("error {code}, {}", quoted(&message))))
            }
        }
    }

    /// What a contract returns; `None` if it refuses, or fails. Without a receiver the data are the code of a constructor.
    /// The caller is the zero address, the block the latest, and nothing lasts.
    pub(super) fn call(&self, to: Option<&Address>, data: &[u8]) -> Result<Option<Vec<u8>>, NoAnswer> {
        let mut call = json!({ "from": hex_of(&[0; 20]), "gas": GAS, "data": hex_of(data) });
        if let Some(to) = to {
            call["to"] = hex_of(to.bytes()).into();
        }
        match self.ask("eth_call", &json!([call, "latest"]))? {
            Answer::Result(result) => match protocol::data(&result) {
                Some(returned) => Ok(Some(returned)),
                None => Err(self.failure("it answered with something else than what a contract returns")),
            },
            Answer::Error { code, message } if protocol::is_the_contracts(code, &message) => Ok(None),
            Answer::Error { code, message } => {
                /// EIP-1474: more was asked than the service gives.
                const LIMIT_EXCEEDED: i64 = -32_005;
                let reason = format!("error {code}, {}", quoted(&message));
                Err(self.line.no_answer(reason, code != LIMIT_EXCEEDED))
            }
        }
    }

    /// Does the address speak for the chain that it is configured for (B-046)?
    fn check_chain(&self) -> Result<(), NoAnswer> {
        let Answer::Result(result) = self.ask("eth_chainId", &json!([]))? else {
            return Err(self.failure("it does not say which chain it speaks for"));
        };
        match protocol::quantity(&result) {
            Some(chain) if chain == self.line.endpoint.chain() => Ok(()),
            Some(chain) => Err(self.failure(format!("it speaks for chain {chain}"))),
            None => Err(self.failure("it does not say which chain it speaks for")),
        }
    }

    fn ask(&self, method: &'static str, params: &Value) -> Result<Answer, NoAnswer> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.failure("it did not answer in time"));
        }
        let id = self.asked.replace(self.asked.get() + 1);
        let request = self.line.agent.post(self.line.endpoint.url().expose());
        let request = request.config().timeout_global(Some(left)).build().content_type("application/json");
        let mut response = request
            .send(protocol::request(id, method, params))
            .map_err(|error| self.failure(reason_of(&error)))?;
        let status = response.status();
        if status != 200 {
            return Err(self.failure(format!("it answered with HTTP status {}", status.as_u16())));
        }
        let body = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(|error| {
            // Whoever owns a contract can make it long, and make it return much.
            let is_long = matches!(error, ureq::Error::BodyExceedsLimit(_));
            self.line.no_answer(reason_of(&error), is_long && method != "eth_chainId")
        })?;
        protocol::read(&body, id).map_err(|reason| self.failure(reason))
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

/// What went wrong, in words that never hold a URL.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library may add errors, and some of its texts hold URLs"
)]
fn reason_of(error: &ureq::Error) -> Cow<'static, str> {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".into(),
        ureq::Error::HostNotFound => "its name is not known".into(),
        ureq::Error::ConnectionFailed => "it cannot be connected to".into(),
        ureq::Error::BodyExceedsLimit(_) => "its answer is longer than 64 KiB".into(),
        ureq::Error::Io(error) => format!("{error}").into(),
        ureq::Error::Rustls(error) => format!("{error}").into(),
        ureq::Error::Other(error) if error.is::<OutOfReach>() => error.to_string().into(),
        _ => "HTTP went wrong".into(),
    }
}
