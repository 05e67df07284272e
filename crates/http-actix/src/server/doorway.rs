//! Who may come to the desk. It is decided for each request before anything of it is read, here and not in
//! the desk: a person who is not an operator gets the same answer from a server without one.

use std::rc::Rc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use countersign_usecases::steps::recognize_operator::{Operator, recognize_operator};

use crate::error::ApiError;
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// Where the desk is, below the path of the public URL.
pub const PATH: &str = "/admin";

/// What a listener answers at a path that does not exist. The failure, if there is one, is for the log.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere(pub fn() -> actix_web::Error);

/// The operator of a request. Only requests of operators reach a handler.
#[derive(Clone)]
pub struct Admitted(pub Rc<Operator>);

/// Lets operators in. Everyone else gets the same answer as at any path that does not exist ([`nowhere`]): no
/// body is read, and a store that cannot be asked makes no difference that could be seen (K-01).
pub async fn admit<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    match find(request.request()).await {
        Ok(Some(operator)) => {
            request.extensions_mut().insert(Admitted(Rc::new(operator)));
            next.call(request).await.map(ServiceResponse::map_into_boxed_body)
        }
        Ok(None) => {
            let nowhere = request
                .app_data::<Nowhere>()
                .map_or_else(|| ApiError::not_found().into(), |Nowhere(answer)| answer());
            Ok(request.error_response(nowhere))
        }
        Err(too_many) => Ok(request.error_response(too_many)),
    }
}

/// Answers a path that does not exist, on a server with a desk or without one. Who asks is found out as for a path of
/// the desk, and counted as there. So neither the time that it takes nor a limit shows where the desk is, or whether there
/// is one (F-26).
pub async fn nowhere(
    request: &HttpRequest,
    Nowhere(answer): Nowhere,
) -> Result<HttpResponse, actix_web::Error> {
    find(request).await?;
    Err(answer())
}

/// Finds the operator who sends a request. A browser that presents a session is counted first.
async fn find(request: &HttpRequest) -> Result<Option<Operator>, ApiError> {
    let Some(state) = request.app_data::<Data<AppState>>() else { return Ok(None) };
    let browser = state.browser(request);
    if browser.login.is_none() {
        return Ok(None);
    }
    state.rate_limits.check(Limited::Nowhere, request)?;
    match recognize_operator(&state.context, &browser).await {
        Ok(found) => Ok(found),
        Err(error) => {
            let cause = &error as &dyn std::error::Error;
            tracing::error!(error = cause, "operator could not be recognized");
            Ok(None)
        }
    }
}
