//! A request of an operator, with what its page needs.

use std::future::{Ready, ready};
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use countersign_domain::act::ActName;
use countersign_domain::event::{Actor, Cause};
use countersign_http_actix::browser;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::server::doorway::Admitted;
use countersign_http_actix::state::AppState;
use countersign_operators::desk::Desk;
use countersign_usecases::steps::recognize_operator::Operator;
use countersign_usecases::{Management, context::cause::SERVER};

use super::forms::{Form, Forms};
use super::query::Query;
use super::sent::Sent;
use crate::settings::DeskSettings;

/// A request of an operator.
pub(super) struct Visit {
    pub(super) state: Data<AppState>,
    pub(super) request: HttpRequest,
    pub(super) operator: Rc<Operator>,
    pub(super) settings: Data<DeskSettings>,
    cause: Cause,
}

impl FromRequest for Visit {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let visit = || {
            let state = request.app_data::<Data<AppState>>()?.clone();
            let Admitted(operator) = request.extensions().get::<Admitted>()?.clone();
            let settings = request.app_data::<Data<DeskSettings>>()?.clone();
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

    /// The form of an act, on a page that knows this.
    pub(super) fn make_form(&self, name: ActName, known: &Sent) -> Form {
        self.desk_forms().form(name, known)
    }

    /// What makes the forms of acts.
    pub(super) fn desk_forms(&self) -> Forms<'_> {
        let policy = self.state.context.policy.desk.as_ref();
        let wanted = Query::of(&self.request, &["do"]).text("do").and_then(ActName::parse);
        Forms { applications: &*self.settings.applications, policy, wanted }
    }

    /// The forms of this browser.
    pub(super) fn forms(&self) -> browser::forms::Forms<'_> {
        self.state.forms(&self.request)
    }
}
