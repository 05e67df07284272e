//! Probes: is the process alive, and may it get requests?

pub(crate) mod description;

use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::web::Data;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::forgetting::{ClockDoubt, TOLERANCE, TimeWitness, WORRYING};
use countersign_ports::StoreError;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;
use crate::state::last_ping::{LastPing, Outcome};

const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// Asking writes to the disk, so the store is asked no more often than this, whoever probes.
const PING_EVERY: Duration = Duration::from_secs(1);

/// What a probe that is content says.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct Health {
    /// Always `ok`; anything else is an error.
    status: &'static str,
    /// What is wrong with this server's clock, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
}

/// The process runs.
pub(crate) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(Health { status: "ok", clock: None })
}

/// How far the clock is from where it should be. The server goes on: nothing is forgotten by a clock that is doubted.
async fn clock_trouble(state: &AppState) -> Result<Option<String>, StoreError> {
    let context = &state.context;
    let doubt = match context.storage.time_witness().await? {
        TimeWitness::Clock(database) => ClockDoubt::between(state.own_clock.now(), database, WORRYING)
            .map(|doubt| (doubt, "the database's")),
        TimeWitness::Mark(mark) => mark
            .and_then(|mark| ClockDoubt::between(context.clock.now(), mark.trusted_at, TOLERANCE))
            .map(|doubt| (doubt, "what was expected")),
    };
    Ok(doubt.map(|(doubt, other)| {
        format!("{} s {} of {other}", doubt.difference().whole_seconds(), doubt.direction())
    }))
}

/// The store answers and can be written, and the server is not about to stop.
pub(crate) async fn ready(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.is_draining() {
        return Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, "the server is stopping"));
    }
    // Whoever has the turn asks; those who waited for it take the answer.
    let mut last = state.last_ping.lock().await;
    if let Some(last) = last.as_ref().filter(|last| last.at.elapsed() < PING_EVERY) {
        return last.outcome.answer();
    }
    let asked = async {
        state.context.storage.ping().await?;
        clock_trouble(&state).await
    };
    let (outcome, failure) = match tokio::time::timeout(PING_TIMEOUT, asked).await {
        Ok(Ok(clock)) => (Outcome::Written { clock }, None),
        Ok(Err(error)) => (Outcome::Failed, Some(error)),
        Err(_) => (Outcome::Late, None),
    };
    let answer = failure.map_or_else(|| outcome.answer(), |error| Err(error.into()));
    *last = Some(LastPing { at: Instant::now(), outcome });
    answer
}

impl Outcome {
    fn answer(&self) -> Result<HttpResponse, ApiError> {
        let unavailable = |why| Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, why));
        match self {
            Self::Written { clock } => {
                Ok(HttpResponse::Ok().json(Health { status: "ok", clock: clock.clone() }))
            }
            Self::Failed => unavailable("the store cannot be written"),
            Self::Late => unavailable("the store does not answer"),
        }
    }
}
