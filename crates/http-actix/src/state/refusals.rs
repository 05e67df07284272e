//! What the log says about a refusal, with whatever finds it again: whom the request named, and where it came
//! from.

use actix_web::HttpRequest;
use countersign_domain::peer_address::PeerAddress;
use tracing::field::display;

use super::AppState;
use crate::error::{About, ApiError};

impl AppState {
    /// Where a request came from, as the log shows it.
    pub(crate) fn peer(&self, request: &HttpRequest) -> Option<PeerAddress> {
        let address = self.rate_limits.address(request)?;
        Some(PeerAddress::shown(address, self.logs_whole_addresses))
    }

    /// Logs an error on its way out. Where a page tells the person about it, the handler calls this, and there is
    /// no duration yet.
    pub(crate) fn log_refusal(&self, request: &HttpRequest, error: &ApiError, duration_us: Option<u64>) {
        let (status, code) = (error.status.as_u16(), error.error.code.name());
        let (description, cause) = (&*error.error.description, error.why());
        let address = self.peer(request).map(display);
        let About { client, wallet } = &error.about;
        if status >= 500 {
            tracing::error!(
                status,
                duration_us,
                error = code,
                description,
                cause,
                client.id = client,
                wallet,
                address,
                "failed"
            );
        } else {
            tracing::info!(
                status,
                duration_us,
                error = code,
                description,
                cause,
                client.id = client,
                wallet,
                address,
                "refused"
            );
        }
    }
}
