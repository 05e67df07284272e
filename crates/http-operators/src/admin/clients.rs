//! `/clients`: the operator's clients, their secrets, who can sign in to them, and what is open to them.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::Act;
use countersign_domain::admission::{AccessRule, AccessRuleRejected, Release};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::read_access::{AccessRead, read_access};
use countersign_ports::SecretRecord;
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::clients::change_client::judge_change;
use countersign_usecases::clients::client_view::ClientView;
use countersign_usecases::clients::list_clients::list_clients;
use countersign_usecases::clients::open_resource::judge_opened;
use countersign_usecases::clients::registration::{Registration, Writer, change, fields_of, requested};
use countersign_usecases::clients::rotate_client_secret::read_secrets;
use countersign_usecases::context::clients::Clients;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Deserializer, Serialize};

use super::AdminState;
use super::admit::Caller;
use super::make::{effect_of, make};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, creating, one};

/// How often a change that names no ETag is tried again because of a change by someone else.
const TRIES: usize = 5;

/// The registration of a client, with the names of RFC 7591.
pub(crate) struct OperatorsRegistration(Registration);

impl<'de> Deserialize<'de> for OperatorsRegistration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Registration::read(Writer::Operator, deserializer).map(Self)
    }
}

/// A client that was just created, with what is shown only then.
#[derive(Serialize)]
struct Created {
    #[serde(flatten)]
    client: ClientView,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    registration_access_token: String,
}

/// A page of clients, in the order of their ids.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ClientList {
    /// The clients.
    items: Vec<Shown>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A client in a list. The table of fields describes it.
#[derive(Serialize)]
#[serde(transparent)]
struct Shown(ClientView);

impl paperclip::v2::schema::Apiv2Schema for Shown {}

/// Asks for a new secret.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSecret {
    /// For how many seconds the old secret works on: 0, which is usual, to 7776000 (90 days).
    keep_old: Option<u32>,
}

/// A new secret. It is shown only this once.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretBody {
    /// The client.
    client_id: String,
    /// The new secret.
    client_secret: String,
    /// Until when the replaced one works. Only if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_secret_expires_at: Option<String>,
    /// When the one before that would have ended. It ended at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    older_secret_cut_short: Option<String>,
}

/// What is known about the secrets of a client, the newest first.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretList {
    /// Those that work.
    items: Vec<SecretRecordBody>,
}

/// What is known about a secret.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretRecordBody {
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// When it was last used, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

/// Opens resources to a client, or closes them.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceUris {
    /// The resources, exactly as they are declared.
    resources: Vec<String>,
}

/// Decides who can sign in to a client.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAccess {
    /// `everyone`, `nobody`, `groups:a,b`, or `default` to follow the setting `default_access`.
    rule: String,
    /// The groups that the client gets: `all`, `a,b`, or `rule` for those of its rule. If it is left out,
    /// that stays.
    release: Option<String>,
}

/// Who can sign in to a client, and which groups it gets.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct AccessBody {
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
pub(crate) struct AccessGroup {
    /// Its name.
    name: String,
    /// How many users are in it; 1001 means more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    /// How many wallets are in it; 1001 means more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallets: Option<u64>,
}

pub(super) async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let after = query.text("after").map(|after| {
        ClientId::parse(after)
            .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let page = list_clients(state.management(), after.transpose()?, query.limit()?).await?;
    let next = page.clients.last().filter(|_| page.more).map(|last| last.id.to_string());
    let items = page.clients.into_iter().map(|client| Shown(ClientView(client))).collect();
    Ok(HttpResponse::Ok().json(ClientList { items, next }))
}

pub(super) async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<OperatorsRegistration>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let Registration { requested, resources, .. } = &body.value.0;
    let act = Act::RegisterClient {
        id: None,
        metadata: Box::new(requested.clone()),
        resources: resources.clone().unwrap_or_default(),
        fields: Vec::new(),
    };
    let created = creating(&state, &caller, &request, &body, async |management| {
        effect_of(&state, Operating::new(management), act.clone()).await
    });
    answer(&state, created.await?)
}

pub(super) async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    one(&ClientView(find(state.management(), &id).await?))
}

/// Changes the fields that are named; null takes one away. If the caller does not say what it read, a change
/// that someone else made at the same time is kept, too. Mistakes in the change itself are reported before
/// what was read is compared (RFC 9110, section 13.2.1).
pub(super) async fn update(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<OperatorsRegistration>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let if_match = IfMatch::of(&request)?;
    if body.fields.contains_key("resources") {
        let detail = "it is for new clients: use resources/open and resources/close";
        return Err(Problem::invalid("resources", detail));
    }
    for _ in 0..TRIES {
        let management = state.management_for(&caller);
        let read = find(management, &id).await?;
        let metadata = changed(&read, &body)?;
        judge_change(management, read.clone(), metadata.clone()).await?;
        let is_of_tag = if_match.judge(&ClientView(read.clone()))?;
        let (client, metadata) = (read.id.into(), Box::new(metadata));
        let clients = management.clients.only_if_still(read);
        let operating = Operating::new(Management { clients: &clients, ..management });
        let act = Act::ChangeClient { client, metadata, fields: Vec::new() };
        match effect_of(&state, operating, act).await {
            Ok(effect) => return answer(&state, effect),
            Err(ActRefused::ClientUnknown(_)) if is_of_tag => return Err(Problem::changed_meanwhile()),
            // It was changed meanwhile, or deleted: the next look shows which.
            Err(ActRefused::ClientUnknown(_)) => {}
            Err(refused) => return Err(refused.into()),
        }
    }
    Err(Problem::conflict("others change this client all the time; try again"))
}

pub(super) async fn delete(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    guarded.make(&state, &caller, Act::DeleteClient { client: guarded.read.id.into() }).await
}

pub(super) async fn secrets(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let client = find(state.management(), &id).await?;
    let secrets = read_secrets(state.management(), client.id).await?;
    let items = secrets.into_iter().map(SecretRecordBody::of).collect();
    Ok(HttpResponse::Ok().json(SecretList { items }))
}

pub(super) async fn rotate(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<NewSecret>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let keep_old = KeepOld::seconds(body.value.keep_old.unwrap_or_default());
    let keep_old = keep_old.ok_or_else(|| {
        Problem::invalid("keep_old", format!("it takes at most {} seconds", KeepOld::LONGEST))
    })?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    guarded.make(&state, &caller, Act::RotateSecret { client: guarded.read.id.into(), keep_old }).await
}

pub(super) async fn open(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<ResourceUris>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    // What no client could have is reported first (RFC 9110, section 13.2.1).
    judge_opened(&state.management().resource_rules().await?, &body.value.resources)?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let (client, resources) = (guarded.read.id.into(), body.value.resources);
    guarded.make(&state, &caller, Act::OpenResources { client, resources }).await
}

pub(super) async fn close(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<ResourceUris>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let (client, resources) = (guarded.read.id.into(), body.value.resources);
    guarded.make(&state, &caller, Act::CloseResources { client, resources }).await
}

pub(super) async fn access(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let client = find(state.management(), &id).await?;
    let read = read_access(state.management(), client).await?;
    one(&AccessBody::of(&state, &read))
}

pub(super) async fn set_access(
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
        rule => Some(AccessRule::parse(rule).map_err(|rejected| {
            let detail = match &rejected {
                AccessRuleRejected::Unknown(_) => {
                    "it is everyone, nobody, groups:NAME,NAME, or default".to_owned()
                }
                AccessRuleRejected::Group(rejected) => rejected.to_string(),
            };
            Problem::invalid("rule", detail)
        })?),
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
    guarded.make(&state, &caller, Act::SetAccess { client: guarded.read.id.into(), rule, release }).await
}

/// Answers with what an act on a client did.
fn answer(state: &AdminState, effect: Effect) -> Result<HttpResponse, Problem> {
    if let Effect::Registered(registered) = effect {
        state.app.metrics.clients_registered.count();
        return Ok(HttpResponse::Created().json(Created {
            client: ClientView(registered.client),
            client_secret: registered.secret.map(|secret| secret.expose().to_owned()),
            registration_access_token: registered.registration_token.expose().to_owned(),
        }));
    }
    if let Effect::ClientChanged { now, .. } | Effect::ClientResources { now, .. } = effect {
        return one(&ClientView(*now));
    }
    if let Effect::ClientDeleted(_) = effect {
        return Ok(HttpResponse::NoContent().finish());
    }
    if let Effect::Rotated(client, rotated) = effect {
        return Ok(HttpResponse::Ok().json(SecretBody {
            client_id: client.to_string(),
            client_secret: rotated.secret.expose().to_owned(),
            old_secret_expires_at: rotated.old_expires_at.map(iso8601),
            older_secret_cut_short: rotated.cut_short.map(iso8601),
        }));
    }
    if let Effect::AccessChanged(changed) = effect {
        return one(&AccessBody::of(state, &changed.now));
    }
    Err(Problem::nothing_here())
}

/// A client that is to be changed, and the clients through which that is done: if the caller said what it read,
/// only if the client is still like that.
struct Guarded {
    read: Client,
    clients: Clients,
    is_of_tag: bool,
}

impl Guarded {
    async fn begin(state: &AdminState, request: &HttpRequest, id: &str) -> Result<Self, Problem> {
        let read = find(state.management(), id).await?;
        let is_of_tag = IfMatch::of(request)?.judge(&ClientView(read.clone()))?;
        Ok(Self::of(state, read, is_of_tag))
    }

    fn of(state: &AdminState, read: Client, is_of_tag: bool) -> Self {
        let clients = state.management().clients;
        let clients = if is_of_tag { clients.only_if_still(read.clone()) } else { clients.clone() };
        Self { read, clients, is_of_tag }
    }

    /// Makes an act on the client.
    async fn make(&self, state: &AdminState, caller: &Caller, act: Act) -> Result<HttpResponse, Problem> {
        let management = Management { clients: &self.clients, ..state.management_for(caller) };
        answer(state, make(state, Operating::new(management), act, self.is_of_tag).await?)
    }
}

async fn find(management: Management<'_>, id: &str) -> Result<Client, Problem> {
    let Some(parsed) = ClientId::parse(id) else { return Err(unknown(id)) };
    management.clients.find_fresh(parsed).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Problem {
    let id: String = id.chars().take(100).collect();
    Problem::not_found(format!("no client has the id {id:?}")).about("client_id")
}

/// The registration of a client, with the changes of a request.
fn changed(read: &Client, body: &Json<OperatorsRegistration>) -> Result<RequestedMetadata, Problem> {
    let mut fields = fields_of(read);
    change(&mut fields, body.fields.clone());
    requested(&fields).map_err(Problem::internal)
}

impl SecretRecordBody {
    fn of(secret: SecretRecord) -> Self {
        Self {
            created_at: secret.created_at.map(iso8601),
            expires_at: secret.expires_at.map(iso8601),
            last_used_at: secret.last_used_at.map(iso8601),
        }
    }
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
