//! What the log says about a refusal: one line for each refused request, with fields that programs can rely on.
//!
//! Their names and their order are fixed (docs/watching.md). What we know comes first. What the request
//! brought along comes behind it and is always written as a string, which the log escapes, so nothing in it
//! can look like another field or another line.

use actix_web::{HttpMessage, HttpRequest};
use countersign_domain::error::OAuthError;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::wallet::WalletAccount;
use tracing::field::display;

use super::AppState;
use super::recent_refusals::RecentRefusal;
use crate::error::{About, ApiError};
use crate::extract::request_id::Reference;
use crate::extract::shown_path::shown_path;

/// The target of these lines. It is part of the text format, so it names no module.
pub const TARGET: &str = "countersign::refusals";

/// The most bytes of a sentence in a line. Journals and log shippers cut longer lines to pieces, and the second
/// piece would begin with what the request brought along.
const MAX_SENTENCE: usize = 600;

/// The most bytes of a text that is kept for operators.
const MAX_KEPT: usize = 300;

/// Marks a request whose refusal is in the log.
struct Logged;

impl AppState {
    /// Where a request came from, as the log shows it.
    pub fn peer(&self, request: &HttpRequest) -> Option<PeerAddress> {
        let address = self.rate_limits.address(request)?;
        Some(PeerAddress::shown(address, self.logs_whole_addresses))
    }

    /// Logs an error on its way out. Where a page shows it to the person, the handler calls this, and there
    /// is no duration yet.
    pub fn log_refusal(&self, request: &HttpRequest, error: &ApiError, duration_us: Option<u64>) {
        let reason = self.counted(request, error.error.refused_for);
        let address = self.peer(request).map(display);
        let (status, code) = (error.status.as_u16(), error.error.code.name());
        let About { client, wallet } = &error.about;
        let why = error.why();
        let (description, cause) = (shortened(&error.error.description), shortened(&why));
        self.keep(request, error.error.refused_for, |refusal| RecentRefusal {
            status: Some(status),
            error: Some(code),
            client: client.clone(),
            wallet: wallet.as_deref().cloned(),
            description: kept(description),
            cause: kept(cause),
            ..refusal
        });
        let wallet = wallet.as_deref().map(WalletAccount::shortened);
        if status >= 500 {
            tracing::error!(
                target: TARGET,
                reason,
                address,
                status,
                error = code,
                client.id = client,
                wallet,
                duration_us,
                description,
                cause,
                "failed"
            );
        } else {
            tracing::info!(
                target: TARGET,
                reason,
                address,
                status,
                error = code,
                client.id = client,
                wallet,
                duration_us,
                description,
                cause,
                "refused"
            );
        }
    }

    /// Logs that a client hears of an error by a redirect, or by a link that the person follows.
    pub(crate) fn log_refused_authorization(&self, request: &HttpRequest, error: &OAuthError, about: &About) {
        let reason = self.counted(request, error.refused_for);
        let address = self.peer(request).map(display);
        let (code, description) = (error.code.name(), shortened(&error.description));
        let About { client, wallet } = about;
        self.keep(request, error.refused_for, |refusal| RecentRefusal {
            error: Some(code),
            client: client.clone(),
            wallet: wallet.as_deref().cloned(),
            description: kept(description),
            ..refusal
        });
        tracing::info!(
            target: TARGET,
            reason,
            address,
            error = code,
            client.id = client,
            description,
            "authorization refused"
        );
    }

    /// Logs an answer that is not an error's but has an error's status, such as a page that asks again. Does
    /// nothing if the handler has logged why.
    pub(crate) fn log_refused_otherwise(&self, request: &HttpRequest, status: u16, duration_us: u64) {
        if request.extensions().contains::<Logged>() {
            return;
        }
        let refused_for = if status >= 500 { RefusedFor::Failure } else { RefusedFor::Request };
        let reason = self.counted(request, refused_for);
        let address = self.peer(request).map(display);
        self.keep(request, refused_for, |refusal| RecentRefusal { status: Some(status), ..refusal });
        if status >= 500 {
            tracing::error!(target: TARGET, reason, address, status, duration_us, "failed");
        } else {
            tracing::info!(target: TARGET, reason, address, status, duration_us, "refused");
        }
    }

    /// Counts a refusal and marks its request. Returns the reason's name.
    fn counted(&self, request: &HttpRequest, refused_for: RefusedFor) -> &'static str {
        self.metrics.refused(refused_for);
        request.extensions_mut().insert(Logged);
        refused_for.name()
    }

    /// Keeps a refusal for operators, if there is a desk at which they could read it.
    fn keep(
        &self,
        request: &HttpRequest,
        refused_for: RefusedFor,
        fill: impl FnOnce(RecentRefusal) -> RecentRefusal,
    ) {
        if self.desk.is_none() {
            return;
        }
        let base = self.context.policy.public_url.path();
        let path = request.path().strip_prefix(base).unwrap_or(request.path());
        self.recent_refusals.keep(fill(RecentRefusal {
            at: self.context.clock.now(),
            refused_for,
            reference: Reference::of(request).unwrap_or_default().into(),
            method: kept(request.method().as_str()),
            path: kept(&shown_path(path)),
            peer: self.peer(request),
            status: None,
            error: None,
            client: None,
            wallet: None,
            description: Box::default(),
            cause: Box::default(),
        }));
    }
}

/// The beginning of a text, as long as it is kept for operators.
fn kept(text: &str) -> Box<str> {
    text[..text.floor_char_boundary(MAX_KEPT)].into()
}

/// The beginning of a sentence, as long as a line allows.
fn shortened(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it look like an attack if one address does it again and again?
    const fn may_be_an_attack(reason: RefusedFor) -> bool {
        match reason {
            RefusedFor::Signature
            | RefusedFor::ClientAuthentication
            | RefusedFor::Code
            | RefusedFor::UserCode
            | RefusedFor::RefreshToken
            | RefusedFor::RegistrationToken
            | RefusedFor::RateLimit
            | RefusedFor::Blocked => true,
            RefusedFor::NotAdmitted
            | RefusedFor::Ended
            | RefusedFor::UnknownClient
            | RefusedFor::RedirectUri
            | RefusedFor::Scope
            | RefusedFor::ForeignPage
            | RefusedFor::Declined
            | RefusedFor::Pending
            | RefusedFor::Registration
            | RefusedFor::Proof
            | RefusedFor::Unsupported
            | RefusedFor::NoSuchPage
            | RefusedFor::Request
            | RefusedFor::Conflict
            | RefusedFor::Other
            | RefusedFor::Failure => false,
        }
    }

    #[test]
    fn the_page_and_the_filter_of_fail2ban_know_every_reason() {
        let page = include_str!("../../../../docs/watching.md");
        let filter = include_str!("../../../../contrib/fail2ban/countersign.conf");
        for reason in RefusedFor::ALL {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` | ", reason.name())));
            let counts = if may_be_an_attack(reason) { " | yes |" } else { " | no |" };
            assert!(row.is_some_and(|row| row.ends_with(counts)), "{}: {row:?}", reason.name());
        }
        let attacks = RefusedFor::ALL.into_iter().filter(|reason| may_be_an_attack(*reason));
        let attacks = attacks.map(RefusedFor::name).collect::<Vec<_>>().join("|");
        assert!(filter.contains(&format!("_reasons = {attacks}\n")), "{attacks}");
    }

    #[test]
    fn a_sentence_is_cut_between_two_characters() {
        let long = "é".repeat(MAX_SENTENCE);
        assert_eq!((shortened(&long).len(), shortened("short")), (MAX_SENTENCE, "short"));
        assert_eq!(shortened(&format!("x{long}")).len(), MAX_SENTENCE - 1);
    }
}
