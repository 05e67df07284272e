//! Who asks: the admin key of a request, and whether its scopes are enough.

use std::future::{Ready, ready};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use countersign_domain::admin_key::{AdminKeyName, AdminKeyRefused, AdminScope};
use countersign_domain::event::Actor;
use countersign_domain::id::AdminKeyId;
use countersign_domain::secret::Secret;
use countersign_operators::admin_keys::admit_admin_key::{AdmitAdminKeyError, admit_admin_key};
use countersign_usecases::context::cause::Cause;

use super::AdminState;
use super::problem::Problem;

/// The challenge of RFC 6750, without an error code.
const SCHEME: &str = "Bearer realm=\"countersign admin\"";

/// The scope that each method at a path needs.
pub(super) struct Needed(pub(super) Vec<(&'static str, AdminScope)>);

/// The key that a request presented. Only requests with a good key reach a handler.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) id: AdminKeyId,
    /// What events say of what it does.
    pub(super) cause: Cause,
}

/// The name of the key that was presented, for the log.
#[derive(Clone, Debug)]
pub(super) struct KeyName(pub(super) AdminKeyName);

/// The id of a request, as in the log.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub(super) String);

impl FromRequest for Caller {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().cloned().ok_or_else(missing))
    }
}

/// Admits a request whose key has the scope of the operation.
pub(super) async fn admit<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    match judge(&request).await {
        Ok(()) => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Err(problem) => Ok(request.error_response(problem)),
    }
}

async fn judge(request: &ServiceRequest) -> Result<(), Problem> {
    let state = request.app_data::<Data<AdminState>>().ok_or_else(Problem::nothing_here)?;
    let presented = presented(request.request())?;
    let admitted = admit_admin_key(state.management(), &presented).await;
    let key = match admitted {
        Ok(key) => key,
        Err(AdmitAdminKeyError::Store(error)) => return Err(error.into()),
        Err(refused @ (AdmitAdminKeyError::Unknown | AdmitAdminKeyError::Refused { .. })) => {
            if let AdmitAdminKeyError::Refused {
                key,
                why: AdminKeyRefused::Revoked | AdminKeyRefused::Expired,
            } = &refused
            {
                request.extensions_mut().insert(KeyName(key.name.clone()));
            }
            let challenge = format!("{SCHEME}, error=\"invalid_token\", error_description=\"{refused}\"");
            let problem = Problem::new(StatusCode::UNAUTHORIZED, refused.to_string());
            return Err(challenged(problem, &challenge));
        }
    };
    let cause = Cause {
        request: request.extensions().get::<RequestId>().map(|RequestId(id)| id.clone()),
        ..state.app.cause(request.request(), Actor::Key(key.name.to_string()))
    };
    request.extensions_mut().insert(KeyName(key.name));
    request.extensions_mut().insert(Caller { id: key.id, cause });
    let Needed(needed) = request.app_data::<Needed>().ok_or_else(Problem::nothing_here)?;
    let needed = needed.iter().find(|(method, _)| *method == request.method().as_str());
    // Another method is refused by the path itself.
    let Some((_, needed)) = needed else { return Ok(()) };
    if key.scopes.allow(*needed) { Ok(()) } else { Err(insufficient(*needed)) }
}

/// The key in the `Authorization` header. There is no other place for it: addresses stand in logs.
fn presented(request: &HttpRequest) -> Result<Secret, Problem> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let value = headers.next().ok_or_else(missing)?;
    if headers.next().is_some() {
        let problem = Problem::invalid("Authorization", "the Authorization header is given more than once");
        return Err(problem);
    }
    let text = str::from_utf8(value.as_bytes()).ok().filter(|text| text.is_ascii()).unwrap_or_default();
    let (scheme, key) = text.split_once(' ').ok_or_else(missing)?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer") && !key.is_empty();
    if is_bearer { Ok(Secret::new(key)) } else { Err(missing()) }
}

fn missing() -> Problem {
    let detail = "an admin key is needed: Authorization: Bearer csak_…";
    challenged(Problem::new(StatusCode::UNAUTHORIZED, detail), SCHEME)
}

fn insufficient(needed: AdminScope) -> Problem {
    let challenge = format!("{SCHEME}, error=\"insufficient_scope\", scope=\"{needed}\"");
    let detail = format!("the admin key lacks the scope {needed}");
    challenged(Problem::new(StatusCode::FORBIDDEN, detail), &challenge)
}

fn challenged(problem: Problem, challenge: &str) -> Problem {
    match HeaderValue::from_str(challenge) {
        Ok(value) => problem.with(header::WWW_AUTHENTICATE, value),
        Err(_) => problem,
    }
}
