//! `/operators`: who the operators are, and which are suspended.

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::admission::Block;
use countersign_domain::challenge::iso8601;
use countersign_domain::desk::operators::Suspension;
use countersign_domain::subject::Subject;
use countersign_http_actix::openapi::formats::readable;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::list_operators::{
    MOST_OPERATORS, OperatorListed, Operators, list_operators,
};
use countersign_operators::people::names::Names;
use countersign_ports::OperatorSuspended;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AdminState;
use super::admit::Caller;
use super::make::make;
use super::operations::{Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query};
use super::schemas::{self, Schema, request, with};
use super::who;

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/operators",
        ("listOperators", "operator list"),
        (AdminArea::Users, AdminRight::Read),
        ("List operators", "Those that the settings name, the members of their group, and those who are suspended."),
        || web::get().to(list),
    )
    .answers(200, OPERATOR_LIST),
    act(
        ActName::SuspendOperator,
        (
            "Suspend an operator",
            "With every wallet that is known to be theirs. The desk is gone for them, nothing that they sign counts, and \
             their proposals end. Their sign-ins to applications stay.",
        ),
        || web::put().to(suspend),
    )
    .asks(&[Parameter::Kind])
    .takes(SUSPENSION_REQUEST)
    .answers(200, SUSPENDED_NOW)
    .conflicts(),
    act(
        ActName::RestoreOperator,
        ("Restore an operator", "Proposals that ended stay so."),
        || web::delete().to(restore),
    )
    .asks(&[Parameter::Kind])
    .answers(200, RESTORED_NOW)
    .conflicts(),
];

const SUSPENSION_REQUEST: Schema = Schema::body::<SuspensionRequest>(
    "SuspensionRequest",
    || request::<SuspensionRequest>(&[], &[("reason", json!({"maxLength": 200, "pattern": readable()}))]),
    || json!({"reason": "last day"}),
);

const SUSPENDED_NOW: Schema = Schema::of::<SuspendedNowBody>("SuspendedNow");

const RESTORED_NOW: Schema = Schema::of::<RestoredNowBody>("RestoredNow");

const OPERATOR_LIST: Schema = Schema::answer("OperatorList", || {
    let through = ("through", json!({"enum": ["admins", "admin_group", "nothing"]}));
    let operator = with(schemas::answer::<OperatorBody>(&[through]), &[("suspended", suspension())]);
    schemas::list::<OperatorList>(operator)
});

fn suspension() -> Value {
    schemas::answer::<SuspensionBody>(&[("at", json!({"format": "date-time"}))])
}

/// Why an operator is suspended.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct SuspensionRequest {
    /// The reason, for operators only: up to 200 characters.
    reason: Option<String>,
}

/// A suspension.
#[derive(Serialize, Apiv2Schema)]
struct SuspensionBody {
    /// Since when.
    at: String,
    /// Why, for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// An operator.
#[derive(Serialize, Apiv2Schema)]
struct OperatorBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// What operators call them, if they have a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The user that a wallet belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The setting that makes an operator of them: `admins` or `admin_group`; `nothing` if they are only suspended.
    through: &'static str,
    /// The suspension, if they are suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    suspended: Option<SuspensionBody>,
}

/// The operators.
#[derive(Serialize, Apiv2Schema)]
struct OperatorList {
    /// The operators.
    items: Vec<OperatorBody>,
    /// Are there more than the first 1,000 of each kind?
    more: bool,
}

/// An operator is suspended now.
#[derive(Serialize, Apiv2Schema)]
struct SuspendedNowBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// Were they suspended before?
    already: bool,
    /// How many proposals of theirs ended.
    proposals_ended: u64,
}

/// An operator can act again.
#[derive(Serialize, Apiv2Schema)]
struct RestoredNowBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// Were they suspended?
    was_suspended: bool,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let Operators { operators, more } = list_operators(state.management(), MOST_OPERATORS).await?;
    let who = operators.iter().map(|operator| operator.who.clone());
    let names = Names::of(state.management().storage, who).await?;
    let items = operators.into_iter().map(|operator| OperatorBody::of(operator, &names)).collect();
    Ok(HttpResponse::Ok().json(OperatorList { items, more }))
}

async fn suspend(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
    body: Json<SuspensionRequest>,
) -> Result<HttpResponse, Problem> {
    let who = named(&state, &caller, &request, &who).await?;
    let reason = body.value.reason.map(|reason| {
        Block::judge_reason(&reason).map_err(|rejected| Problem::invalid("reason", rejected.to_string()))
    });
    let act = Act::Suspend { who: who.into(), reason: reason.transpose()? };
    answer(&make(&state, Operating::new(state.management_for(&caller)), act, false).await?)
}

async fn restore(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let who = named(&state, &caller, &request, &who).await?;
    let act = Act::Restore { who: who.into() };
    answer(&make(&state, Operating::new(state.management_for(&caller)), act, false).await?)
}

async fn named(
    state: &AdminState,
    caller: &Caller,
    request: &HttpRequest,
    who: &str,
) -> Result<Subject, Problem> {
    let query = Query::of(request, &["kind"])?;
    IfMatch::of(request)?.refuse_tags()?;
    who::either(state.management_for(caller), who, who::kind(query.text("kind"))?).await
}

fn answer(effect: &Effect) -> Result<HttpResponse, Problem> {
    if let Effect::OperatorSuspended(who, suspended) = effect {
        let (already, proposals_ended) = match suspended {
            OperatorSuspended::Suspended { proposals } => (false, *proposals),
            OperatorSuspended::AlreadySo | OperatorSuspended::UserUnknown => (true, 0),
        };
        let body = SuspendedNowBody { who: who.to_string(), already, proposals_ended };
        return Ok(HttpResponse::Ok().json(body));
    }
    if let Effect::OperatorRestored(who, was_suspended) = effect {
        let body = RestoredNowBody { who: who.to_string(), was_suspended: *was_suspended };
        return Ok(HttpResponse::Ok().json(body));
    }
    Err(Problem::nothing_here())
}

impl OperatorBody {
    fn of(listed: OperatorListed, names: &Names) -> Self {
        let user = listed.owner().map(|user| user.to_string());
        let suspended =
            listed.suspension.map(|Suspension { at, reason }| SuspensionBody { at: iso8601(at), reason });
        Self {
            who: listed.who.to_string(),
            name: names.text(&listed.who).map(str::to_owned),
            user,
            through: listed.through.name(),
            suspended,
        }
    }
}
