//! What happens to every request before and after its handler: limits, a request id, one log line, and the headers.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::HttpMessage;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use countersign_domain::refusal::RefusedFor;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::extract::shown_path::shown_path;
use countersign_http_actix::page::policy::PAGE_POLICY;
use countersign_http_actix::server::edge::{REQUEST_ID, admit, request_id};
use countersign_http_actix::state::refusals::TARGET;
use futures_util::FutureExt;
use tracing::Instrument;
use tracing::field::display;

use super::AdminState;
use super::admit::{KeyName, RequestId};
use super::problem::Problem;

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct Panicked;

pub(super) async fn guard<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let Some(state) = request.app_data::<Data<AdminState>>().cloned() else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    let id = request_id(&request, &state.app);
    let started = Instant::now();
    let path = shown_path(request.path());
    let method = request.method().clone();
    let span = tracing::info_span!("admin request", request.id = %id, %method, %path);
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = match admit(&request, &state.app).await.map_err(Problem::from) {
        Err(problem) => request.error_response(problem),
        Ok(()) => {
            let answered = AssertUnwindSafe(next.call(request).instrument(span.clone())).catch_unwind().await;
            // A panic is a bug of ours. Only this one request fails (D-24).
            let Ok(answered) = answered else { return Err(Problem::internal(Panicked).into()) };
            answered?.map_into_boxed_body()
        }
    };
    let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    span.in_scope(|| log(&response, &state, duration_us));
    complete(&mut response, &id);
    Ok(response)
}

fn complete(response: &mut ServiceResponse<BoxBody>, id: &str) {
    let head = response.headers_mut();
    let is_page =
        head.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let mut set = |name: HeaderName, value: &'static str| {
        if !head.contains_key(&name) {
            head.insert(name, HeaderValue::from_static(value));
        }
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::X_FRAME_OPTIONS, "DENY");
    let policy = if is_page { PAGE_POLICY } else { "default-src 'none'; frame-ancestors 'none'" };
    set(header::CONTENT_SECURITY_POLICY, policy);
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    // A page of the desk has the id that it shows.
    let name = HeaderName::from_static(REQUEST_ID);
    if let (Ok(value), false) = (HeaderValue::from_str(id), head.contains_key(&name)) {
        head.insert(name, value);
    }
}

/// One line, with the name of the key that was presented, if it is one or was one.
fn log(response: &ServiceResponse<BoxBody>, state: &AdminState, duration_us: u64) {
    let request = response.request();
    let status = response.status().as_u16();
    let extensions = request.extensions();
    let key = extensions.get::<KeyName>().map(|KeyName(name)| name.as_str());
    let Some(error) = response.response().error() else {
        tracing::debug!(status, duration_us, admin_key.name = key, "answered");
        return;
    };
    let address = state.app.peer(request).map(display);
    let (problem, detail, field, cause) = match (error.as_error::<Problem>(), error.as_error::<ApiError>()) {
        (Some(problem), _) => {
            (problem.kind(), problem.detail.to_string(), problem.field().map(str::to_owned), problem.why())
        }
        (None, Some(error)) => ("invalid", error.error.description.to_string(), None, error.why()),
        (None, None) => ("invalid", error.to_string(), None, String::new()),
    };
    let refused_for = match (status, error.as_error::<ApiError>()) {
        (500.., _) => RefusedFor::Failure,
        (_, Some(error)) => error.error.refused_for,
        (409 | 412, None) => RefusedFor::Conflict,
        (_, None) => RefusedFor::Request,
    };
    let reason = refused_for.name();
    if status >= 500 {
        tracing::error!(
            target: TARGET,
            reason,
            address,
            status,
            problem,
            admin_key.name = key,
            field,
            duration_us,
            detail,
            cause,
            "failed"
        );
    } else {
        tracing::info!(
            target: TARGET,
            reason,
            address,
            status,
            problem,
            admin_key.name = key,
            field,
            duration_us,
            detail,
            cause,
            "refused"
        );
    }
}
