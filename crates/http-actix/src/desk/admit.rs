//! Who may come to the desk. It is decided for each request before anything of it is read.

use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use countersign_domain::event::{Actor, Cause};
use countersign_usecases::desk::Desk;
use countersign_usecases::desk::recognize_operator::{Operator, recognize_operator};
use countersign_usecases::{Management, context::cause::SERVER};

use super::forms::{Form, Forms};
use super::sent::Sent;
use crate::browser;
use crate::error::ApiError;
use crate::settings::DeskSettings;
use crate::state::AppState;

/// What a listener answers at a path that does not exist. The failure, if there is one, is for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nowhere(pub(crate) fn() -> actix_web::Error);

/// The operator of a request. Only requests of operators reach a handler.
#[derive(Clone)]
struct Admitted(Rc<Operator>);

/// A request of an operator.
pub(super) struct Visit {
    pub(super) state: Data<AppState>,
    pub(super) request: HttpRequest,
    pub(super) operator: Rc<Operator>,
    pub(super) settings: Arc<DeskSettings>,
    cause: Cause,
}

/// Lets operators in. Everybody else gets the same answer as at any path that does not exist: no body is read, no
/// limit is counted, and a store that cannot be asked makes no difference that could be seen (K-01).
pub(crate) async fn admit<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    match find(&request).await {
        Some(operator) => {
            request.extensions_mut().insert(Admitted(Rc::new(operator)));
            next.call(request).await.map(ServiceResponse::map_into_boxed_body)
        }
        None => {
            let nowhere = request
                .app_data::<Nowhere>()
                .map_or_else(|| ApiError::not_found().into(), |Nowhere(answer)| answer());
            Ok(request.error_response(nowhere))
        }
    }
}

async fn find(request: &ServiceRequest) -> Option<Operator> {
    let state = request.app_data::<Data<AppState>>()?;
    match recognize_operator(&state.context, &state.browser(request.request())).await {
        Ok(found) => found,
        Err(error) => {
            let cause = &error as &dyn std::error::Error;
            tracing::error!(error = cause, "operator could not be recognized");
            None
        }
    }
}

impl FromRequest for Visit {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let visit = || {
            let state = request.app_data::<Data<AppState>>()?.clone();
            let Admitted(operator) = request.extensions().get::<Admitted>()?.clone();
            let settings = Arc::clone(state.desk.as_ref()?);
            let cause = state.cause(request, Actor::Wallet(operator.session.account.caip10()));
            Some(Self { state, request: request.clone(), operator, settings, cause })
        };
        ready(visit().ok_or_else(ApiError::not_found))
    }
}

impl Visit {
    /// What the use-cases of the desk need.
    pub(super) fn desk(&self) -> Desk<'_> {
        Desk { context: &self.state.context, keys: &*self.settings.keys, cause: &self.cause }
    }

    /// What the use-cases need to read.
    pub(super) fn management(&self) -> Management<'_> {
        self.state.context.management_for(&SERVER)
    }

    /// The form of a change, if there is such a change.
    pub(super) fn make_form(&self, change: &str, sent: &Sent, known: &[&str]) -> Option<Form> {
        Forms { applications: &*self.settings.applications }.form(change, sent, known)
    }

    /// The forms of this browser.
    pub(super) fn forms(&self) -> browser::forms::Forms<'_> {
        self.state.forms(&self.request)
    }
}
