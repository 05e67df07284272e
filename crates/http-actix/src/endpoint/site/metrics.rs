//! `GET /metrics`: what was counted, as Prometheus reads it.

pub(crate) mod description;

use actix_web::HttpResponse;
use actix_web::web::Data;
use countersign_metrics::{CONTENT_TYPE, Metrics};

use crate::error::ApiError;
use crate::state::AppState;

/// Shows the page; where it has a listener of its own, or is off, there is nothing here.
pub(crate) async fn show(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.shows_metrics { Ok(page(&state.metrics)) } else { Err(ApiError::not_found()) }
}

/// The page as it stands now.
pub(crate) fn page(metrics: &Metrics) -> HttpResponse {
    HttpResponse::Ok().content_type(CONTENT_TYPE).body(metrics.text())
}
