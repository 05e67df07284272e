//! Probes: is the process alive, and may it get requests?

use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::web::Data;
use countersign_domain::error::OAuthErrorCode;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;

const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// Asking writes to the disk, so the store is asked no more often than this, whoever probes.
const PING_EVERY: Duration = Duration::from_secs(1);

/// What a probe that is content says.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct Health {
    /// Always `ok`; anything else is an error.
    status: &'static str,
}

/// The process runs.
pub(crate) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(Health { status: "ok" })
}

/// The store answers and can be written, and the server is not about to stop.
pub(crate) async fn ready(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.is_draining() {
        return Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, "the server is stopping"));
    }
    // Whoever has the turn asks; those who waited for it take the answer.
    let mut last = state.last_ping.lock().await;
    if let Some(last) = last.filter(|last| last.at.elapsed() < PING_EVERY) {
        return last.outcome.answer();
    }
    let (outcome, answer) = match tokio::time::timeout(PING_TIMEOUT, state.context.storage.ping()).await {
        Ok(Ok(())) => (Outcome::Written, Outcome::Written.answer()),
        Ok(Err(error)) => (Outcome::Failed, Err(error.into())),
        Err(_) => (Outcome::Late, Outcome::Late.answer()),
    };
    *last = Some(LastPing { at: Instant::now(), outcome });
    answer
}

/// What the store said last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastPing {
    at: Instant,
    outcome: Outcome,
}

/// What came of a question to the store.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Written,
    Failed,
    Late,
}

impl Outcome {
    fn answer(self) -> Result<HttpResponse, ApiError> {
        let unavailable = |why| Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, why));
        match self {
            Self::Written => Ok(HttpResponse::Ok().json(Health { status: "ok" })),
            Self::Failed => unavailable("the store cannot be written"),
            Self::Late => unavailable("the store does not answer"),
        }
    }
}
