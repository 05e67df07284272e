//! `/clients/{client_id}/access`: who can sign in to a client, and which groups it gets.

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::admission::{AccessRule, Release};
use countersign_operators::operate::Effect;
use countersign_operators::people::read_access::{AccessRead, read_access};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Guarded, find};
use crate::admin::AdminState;
use crate::admin::admit::Caller;
use crate::admin::operations::{Operation, act, operation};
use crate::admin::problem::Problem;
use crate::admin::read::{IfMatch, Json, Query, one};
use crate::admin::schemas::{self, Schema, items, request};

pub(in crate::admin) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/clients/{client_id}/access",
        ("showAccess", "access show"),
        (AdminArea::Clients, AdminRight::Read),
        ("Show who can sign in to a client", "And which groups it gets."),
        || web::get().to(access),
    )
    .answers(200, ACCESS)
    .tagged(),
    act(
        ActName::SetAccess,
        ("Decide who can sign in to a client", "It counts from the next sign-in and the next refresh on."),
        || web::put().to(set_access),
    )
    .takes(NEW_ACCESS)
    .answers(200, ACCESS)
    .tagged()
    .guarded()
    .conflicts(),
];

const NEW_ACCESS: Schema = Schema::body::<NewAccess>(
    "NewAccess",
    || {
        request::<NewAccess>(
            &["rule"],
            &[("rule", json!({"pattern": RULE})), ("release", json!({"pattern": RELEASE}))],
        )
    },
    || json!({"rule": "groups:staff", "release": "rule"}),
);

const ACCESS: Schema = Schema::answer("Access", || {
    items(schemas::answer::<AccessBody>(&[]), "groups", schemas::answer::<AccessGroup>(&[]))
});

/// A rule of access.
const RULE: &str = "^(default|everyone|nobody|groups:[a-z][a-z0-9_.:-]{0,63}(,[a-z][a-z0-9_.:-]{0,63})*)$";
/// Groups to release.
const RELEASE: &str = "^(rule|all|[a-z][a-z0-9_.:-]{0,63}(,[a-z][a-z0-9_.:-]{0,63})*)$";

/// Decides who can sign in to a client.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct NewAccess {
    /// `everyone`, `nobody`, `groups:a,b`, or `default` to follow the setting `default_access`.
    rule: String,
    /// The groups that the client gets: `all`, `a,b`, or `rule` for those of its rule. If it is left out,
    /// that stays.
    release: Option<String>,
}

/// Who can sign in to a client, and which groups it gets.
#[derive(Serialize, Apiv2Schema)]
struct AccessBody {
    /// The client.
    client_id: String,
    /// Its name.
    client_name: String,
    /// The rule that counts.
    access: String,
    /// The client's own rule, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The setting that other clients follow.
    default_access: String,
    /// The groups that the client gets: `rule`, `all` or `a,b`.
    release: String,
    /// The groups that the rule names.
    groups: Vec<AccessGroup>,
}

/// A group that a rule names.
#[derive(Serialize, Apiv2Schema)]
struct AccessGroup {
    /// Its name.
    name: String,
    /// How many users are in it; 1001 means more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    /// How many wallets are in it; 1001 means more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallets: Option<u64>,
}

async fn access(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let client = find(state.management(), &id).await?;
    let read = read_access(state.management(), client).await?;
    one(&AccessBody::of(&state, &read))
}

async fn set_access(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<NewAccess>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let NewAccess { rule, release } = body.value;
    let rule = match rule.as_str() {
        "default" => None,
        rule => {
            Some(AccessRule::parse(rule).map_err(|rejected| Problem::invalid("rule", rejected.to_string()))?)
        }
    };
    let release = release.map(|release| match release.as_str() {
        "rule" => Ok(Release::OfRule),
        release => {
            Release::parse(release).map_err(|rejected| Problem::invalid("release", rejected.to_string()))
        }
    });
    let release = release.transpose()?;
    let management = state.management_for(&caller);
    let client = find(management, &id).await?;
    let before = read_access(management, client.clone()).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&AccessBody::of(&state, &before))?;
    let guarded = Guarded::of(&state, client, is_of_tag);
    let act = Act::SetAccess { client: guarded.read.id.into(), rule, release };
    let Effect::AccessChanged(changed) = guarded.make(&state, &caller, act).await? else {
        return Err(Problem::nothing_here());
    };
    one(&AccessBody::of(&state, &changed.now))
}

impl AccessBody {
    fn of(state: &AdminState, read: &AccessRead) -> Self {
        let access = &read.client.access;
        let groups = read.groups.iter().map(|(name, counted)| AccessGroup {
            name: name.to_string(),
            users: counted.as_ref().map(|counted| counted.users),
            wallets: counted.as_ref().map(|counted| counted.wallets),
        });
        Self {
            client_id: read.client.id.to_string(),
            client_name: read.client.metadata.name.clone(),
            access: read.rule.to_string(),
            rule: access.rule.as_ref().map(ToString::to_string),
            default_access: state.management().policy.default_access.to_string(),
            release: match &access.release {
                Release::OfRule => "rule".to_owned(),
                release @ (Release::All | Release::Groups(_)) => release.to_string(),
            },
            groups: groups.collect(),
        }
    }
}
