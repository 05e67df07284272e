//! `GET /metrics`: the metrics, in the format of Prometheus.

pub(crate) mod description;

use actix_web::HttpResponse;
use actix_web::web::Data;
use countersign_metrics::{CONTENT_TYPE, Metrics};

use crate::error::ApiError;
use crate::state::AppState;

/// Shows the page. If metrics are off or have their own listener, this path does not exist.
pub(crate) async fn show(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    if state.shows_metrics { Ok(page(&state.metrics)) } else { Err(ApiError::not_found()) }
}

/// The current metrics, as text.
pub(crate) fn page(metrics: &Metrics) -> HttpResponse {
    HttpResponse::Ok().content_type(CONTENT_TYPE).body(metrics.text())
}
