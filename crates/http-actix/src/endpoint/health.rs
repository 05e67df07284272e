//! Probes: is the process alive, and may it get requests?

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use countersign_domain::error::OAuthErrorCode;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::error::ApiError;
use crate::state::AppState;

const PING_TIMEOUT: Duration = Duration::from_secs(2);

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

/// The store answers, and the server is not about to stop.
pub(crate) async fn ready(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.is_draining() {
        return Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, "the server is stopping"));
    }
    match tokio::time::timeout(PING_TIMEOUT, state.context.storage.ping()).await {
        Ok(Ok(())) => Ok(HttpResponse::Ok().json(Health { status: "ok" })),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(ApiError::new(OAuthErrorCode::TemporarilyUnavailable, "the store does not answer")),
    }
}
