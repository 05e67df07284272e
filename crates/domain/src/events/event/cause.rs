//! Who does something, and from where: what an event records beside what happened.

use std::sync::Arc;

use super::{Actor, Signed};
use crate::peer_address::PeerAddress;

/// Who does something, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Who does it.
    pub actor: Actor,
    /// Where the request came from: as much of the address as the operator wants in events.
    pub address: Option<PeerAddress>,
    /// The same for log lines, whose setting is another.
    pub logged_address: Option<PeerAddress>,
    /// The id of the request, as in the log.
    pub request: Option<String>,
    /// What operators signed to have it done, at the desk.
    pub signed: Option<Arc<Signed>>,
}

impl Cause {
    /// Something that no request asked for.
    pub const fn of(actor: Actor) -> Self {
        Self { actor, address: None, logged_address: None, request: None, signed: None }
    }

    /// The cause of what the server does about the same request by itself. It is not signed.
    #[must_use]
    pub fn by_server(&self) -> Self {
        Self { actor: Actor::Server, signed: None, ..self.clone() }
    }
}

/// What the server does by itself.
pub static SERVER: Cause = Cause::of(Actor::Server);
