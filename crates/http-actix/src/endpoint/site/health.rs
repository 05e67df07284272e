//! Probes: is the process alive, and can it serve requests?

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
/// Each ping writes to the disk. Therefore the store is pinged at most this often, however many probes come.
const PING_EVERY: Duration = Duration::from_secs(1);

/// The answer to a probe if all is well.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct Health {
    /// Always `ok`; anything else is an error.
    status: &'static str,
    /// What is wrong with this server's clock. Left out if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
    /// Which events are not sealed in time, or cannot be. Left out if all are well.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<String>,
}

/// Answers as long as the process runs.
pub(crate) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(Health { status: "ok", clock: None, events: None })
}

/// Says how far the clock is off. The server goes on serving, because nothing is deleted by a clock in doubt.
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

/// Answers `ok` if the store can be written and the server is not about to stop.
pub(crate) async fn ready(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.is_draining() {
        return Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, "the server is stopping"));
    }
    // One probe holds the lock and pings; the probes that waited for the lock share its outcome.
    let mut last = state.last_ping.lock().await;
    if let Some(last) = last.as_ref().filter(|last| last.at.elapsed() < PING_EVERY) {
        return last.outcome.answer();
    }
    let asked = async {
        state.context.storage.ping().await?;
        clock_trouble(&state).await
    };
    let (outcome, failure) = match tokio::time::timeout(PING_TIMEOUT, asked).await {
        Ok(Ok(clock)) => {
            let unsealed = state.seals.last();
            let events = (!unsealed.is_fine()).then(|| unsealed.to_string());
            (Outcome::Written { clock, events }, None)
        }
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
            Self::Written { clock, events } => {
                let (clock, events) = (clock.clone(), events.clone());
                Ok(HttpResponse::Ok().json(Health { status: "ok", clock, events }))
            }
            Self::Failed => unavailable("the store cannot be written"),
            Self::Late => unavailable("the store does not answer"),
        }
    }
}
