//! Who asks for something, and from where, as events tell it.

use actix_web::HttpRequest;
use countersign_domain::event::Actor;
use countersign_domain::peer_address::PeerAddress;
use countersign_usecases::context::cause::Cause;

use super::AppState;
use crate::extract::request_id::Reference;

impl AppState {
    /// The cause of what a request asks for. A handler of many requests makes it only for those that change
    /// something.
    pub fn cause(&self, request: &HttpRequest, actor: Actor) -> Cause {
        let address = self.rate_limits.address(request);
        let shown = |whole| address.map(|address| PeerAddress::shown(address, whole));
        Cause {
            actor,
            address: shown(self.context.policy.events.whole_addresses),
            logged_address: shown(self.logs_whole_addresses),
            request: Reference::of(request),
            signed: None,
        }
    }
}

#[cfg(test)]
mod tests;
