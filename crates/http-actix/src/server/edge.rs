//! What happens to every request before and after its handler: limits, a request id, one log line, and for
//! browsers an error page instead of JSON.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use countersign_metrics::{METHODS, Request};
use countersign_usecases::context::footing::NoFooting;
use futures_util::FutureExt;
use tracing::Instrument;

use super::headers;
use crate::browser::cookies;
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::header_text;
use crate::extract::request_id::Reference;
use crate::extract::shown_path::shown_path;
use crate::limits::connection::{Connection, in_pieces};
use crate::page::error_page;
use crate::settings::RouteNumber;
use crate::state::AppState;

const MAX_TARGET: usize = 16 * 1024;
const MAX_HEAD: usize = 16 * 1024;
pub const REQUEST_ID: &str = "x-request-id";

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct Panicked;

pub async fn guard<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let Some(state) = request.app_data::<Data<AppState>>().cloned() else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    let _busy = Connection::answering(request.request());
    let id = request_id(&request, &state);
    let started = Instant::now();
    let method = request.method().clone();
    let base = state.context.policy.public_url.path();
    let path = request.path().strip_prefix(base).unwrap_or(request.path()).to_owned();
    let span = tracing::info_span!("request", request.id = %id, method = %method, path = shown_path(&path));
    let in_header = HeaderValue::from_str(&id);
    Reference::keep(&request, id);
    cookies::ignore_doubled(request.headers_mut(), state.context.policy.public_url.is_https());
    let result = match admit(&request, &state).await {
        Ok(()) => {
            let answered = AssertUnwindSafe(next.call(request).instrument(span.clone())).catch_unwind().await;
            // A panic is a bug of ours. Only this one request fails (D-24).
            let Ok(answered) = answered else {
                let error = ApiError::server_error(Panicked);
                count(&state, RouteNumber::OTHER, &method, error.status, started.elapsed());
                return Err(error.into());
            };
            answered?.map_into_boxed_body()
        }
        Err(error) => request.error_response(error),
    };
    // Errors are logged before they become pages, because a page does not know its cause.
    let took = started.elapsed();
    span.in_scope(|| log(&result, &state, &path, took));
    let route = result.request().app_data::<RouteNumber>().copied().unwrap_or(RouteNumber::OTHER);
    count(&state, route, &method, result.status(), took);
    let mut response = as_page_for_browsers(result, &state);
    let head = response.headers_mut();
    headers::complete(head, &method, &path, state.context.policy.public_url.is_https());
    if let Ok(value) = in_header {
        head.insert(header::HeaderName::from_static(REQUEST_ID), value);
    }
    if state.is_draining() {
        response.response_mut().head_mut().set_connection_type(actix_web::http::ConnectionType::Close);
    }
    Ok(response.map_body(|_, body| in_pieces(body)))
}

pub fn request_id(request: &ServiceRequest, state: &AppState) -> String {
    let given = header_text(request.headers(), REQUEST_ID);
    let is_plain = |id: &&str| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    match given.filter(is_plain) {
        Some(id) => id.to_owned(),
        None => state.request_ids.next(state.own_clock.now()),
    }
}

/// Refuses a request that is too large, and every request of a server whose database is another one than at its start. Probes are answered, and
/// so is a request of a server that cannot know it, because what needs the database fails by itself.
pub async fn admit(request: &ServiceRequest, state: &AppState) -> Result<(), ApiError> {
    check_size(request)?;
    if state.footing.is_sure() || request.path().contains("/health/") {
        return Ok(());
    }
    match state.footing.look().await {
        Ok(()) | Err(NoFooting::Unknown(_)) => Ok(()),
        Err(error @ (NoFooting::Lost | NoFooting::BeingFilled)) => Err(ApiError::not_now(error)),
    }
}

fn check_size(request: &ServiceRequest) -> Result<(), ApiError> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > MAX_TARGET {
        return Err(ApiError::invalid_request("the address is longer than 16 KiB")
            .with_status(StatusCode::URI_TOO_LONG));
    }
    let head: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if head > MAX_HEAD {
        return Err(ApiError::invalid_request("the headers are longer than 16 KiB")
            .with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    Ok(())
}

fn as_page_for_browsers(response: ServiceResponse<BoxBody>, state: &AppState) -> ServiceResponse<BoxBody> {
    let Some(error) = response.response().error().and_then(|error| error.as_error::<ApiError>()) else {
        return response;
    };
    if !error.always_page && !prefers_html(response.request()) {
        return response;
    }
    let id = Reference::of(response.request()).unwrap_or_default();
    let Ok(mut page) = error_page::show(&state.pages, response.request(), error, &id) else {
        return response;
    };
    // The page replaces the response, but the response's cookies are still needed.
    for cookie in response.headers().get_all(header::SET_COOKIE) {
        page.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    response.into_response(page)
}

fn count(
    state: &AppState,
    RouteNumber(route): RouteNumber,
    method: &Method,
    status: StatusCode,
    took: Duration,
) {
    let method = METHODS.iter().position(|known| *known == method.as_str()).unwrap_or(METHODS.len());
    state.metrics.answered(Request { route, method, status: status.as_u16() }, took);
}

fn log(response: &ServiceResponse<BoxBody>, state: &AppState, path: &str, took: Duration) {
    let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    let error = response.response().error().and_then(|error| error.as_error::<ApiError>());
    let Some(error) = error else {
        let is_probe = path.starts_with("/health/") || path == "/metrics";
        if status >= 400 && !is_probe {
            state.log_refused_otherwise(response.request(), status, duration_us);
        }
        // Otherwise, most of the log would be successful requests, which a proxy's log has too.
        tracing::debug!(status, duration_us, "answered");
        return;
    };
    state.log_refusal(response.request(), error, Some(duration_us));
}

#[cfg(test)]
mod tests;
