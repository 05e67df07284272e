//! `/clients`: the operator's clients, their secrets, and what is open to them. Who can sign in to them is in
//! [`access`].

pub(super) mod access;

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::id::ClientId;
use countersign_domain::registration::RequestedMetadata;
use countersign_operators::operate::{Effect, Operating};
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
use serde_json::json;

use super::AdminState;
use super::admit::Caller;
use super::make::{effect_of, make};
use super::operations::{Cursor, Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, creating, one};
use super::schemas::{self, ADDRESS, Schema, client, registration, request, without};

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/clients",
        ("listClients", "client list"),
        (AdminArea::Clients, AdminRight::Read),
        ("List clients", "In the order of their ids."),
        || web::get().to(list),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Id)])
    .answers(200, CLIENT_LIST),
    act(
        ActName::RegisterClient,
        (
            "Create a client",
            "Its secrets are shown in this answer only. A repeat with the same `Idempotency-Key` gets the same ones.",
        ),
        || web::post().to(create),
    )
    .takes(REGISTRATION)
    .answers(201, CLIENT)
    .repeatable(),
    operation(
        "GET",
        "/clients/{client_id}",
        ("showClient", "client show"),
        (AdminArea::Clients, AdminRight::Read),
        ("Show a client", "Everything but its secrets."),
        || web::get().to(show),
    )
    .answers(200, CLIENT)
    .tagged(),
    act(
        ActName::ChangeClient,
        (
            "Change a client",
            "The fields that are sent replace those that are there; null takes one away. Its id and its secrets stay.",
        ),
        || web::patch().to(update),
    )
    .takes(REGISTRATION_UPDATE)
    .answers(200, CLIENT)
    .tagged()
    .guarded()
    .conflicts(),
    act(
        ActName::DeleteClient,
        ("Delete a client", "All that people allowed it ends too."),
        || web::delete().to(delete),
    )
    .answers_nothing()
    .guarded(),
    operation(
        "GET",
        "/clients/{client_id}/secrets",
        ("showClientSecrets", "client show"),
        (AdminArea::Clients, AdminRight::Read),
        ("Show what is known about a client's secrets", "When they were made, end, and were last used."),
        || web::get().to(secrets),
    )
    .answers(200, SECRET_LIST),
    act(
        ActName::RotateSecret,
        (
            "Give a client a new secret",
            "It is shown in this answer only. The old one ends at once, unless it is kept for a while.",
        ),
        || web::post().to(rotate),
    )
    .takes(NEW_SECRET)
    .answers(200, SECRET)
    .guarded()
    .conflicts(),
    act(
        ActName::OpenResources,
        ("Open resources to a client", "It can get access tokens for them."),
        || web::post().to(open),
    )
    .takes(RESOURCE_URIS)
    .answers(200, CLIENT)
    .tagged()
    .guarded()
    .conflicts(),
    act(
        ActName::CloseResources,
        ("Close resources to a client", "Tokens that it already has work until they expire."),
        || web::post().to(close),
    )
    .takes(RESOURCES_TO_CLOSE)
    .answers(200, CLIENT)
    .tagged()
    .guarded()
    .conflicts(),
];

const REGISTRATION: Schema = Schema::body::<OperatorsRegistration>(
    "Registration",
    || registration(&["client_name", "redirect_uris"]),
    || {
        json!({
            "client_name": "Photo Album",
            "redirect_uris": ["https://photos.example/callback"],
            "scope": "openid profile",
        })
    },
);

const REGISTRATION_UPDATE: Schema = Schema::body::<OperatorsRegistration>(
    "RegistrationUpdate",
    || without(registration(&[]), "resources"),
    || json!({"client_name": "Photo Album, renamed", "logo_uri": null}),
);

const CLIENT: Schema = Schema::answer("Client", client);

const CLIENT_LIST: Schema =
    Schema::answer("ClientList", || schemas::page::<ClientList>(Cursor::Id.schema(), client()));

const NEW_SECRET: Schema = Schema::body::<NewSecret>(
    "NewSecret",
    || request::<NewSecret>(&[], &[("keep_old", json!({"minimum": 0, "maximum": 7_776_000}))]),
    || json!({"keep_old": 604_800}),
);

const SECRET: Schema = Schema::of::<SecretBody>("Secret");

const SECRET_LIST: Schema =
    Schema::answer("SecretList", || schemas::list::<SecretList>(schemas::answer::<SecretRecordBody>(&[])));

const RESOURCE_URIS: Schema = Schema::body::<ResourceUris>(
    "ResourceUris",
    || {
        let resources = json!({"items": {"type": "string", "pattern": ADDRESS}});
        request::<ResourceUris>(&["resources"], &[("resources", resources)])
    },
    || json!({"resources": ["https://api.example"]}),
);

/// Anything can be closed: it may be open since other rules held.
const RESOURCES_TO_CLOSE: Schema = Schema::body::<ResourceUris>(
    "ResourcesToClose",
    || request::<ResourceUris>(&["resources"], &[]),
    || json!({"resources": ["https://api.example"]}),
);

/// How often a change that names no ETag is tried again because of a change by someone else.
const TRIES: usize = 5;

/// The registration of a client, with the names of RFC 7591.
struct OperatorsRegistration(Registration);

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
struct ClientList {
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
struct NewSecret {
    /// For how many seconds the old secret works on, up to 7776000 (90 days). Without it, for a day; with 0 it ends at once.
    keep_old: Option<u32>,
}

/// A new secret. It is shown only this once.
#[derive(Serialize, Apiv2Schema)]
struct SecretBody {
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
struct SecretList {
    /// Those that work.
    items: Vec<SecretRecordBody>,
}

/// What is known about a secret.
#[derive(Serialize, Apiv2Schema)]
struct SecretRecordBody {
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
struct ResourceUris {
    /// The resources, exactly as they are declared.
    resources: Vec<String>,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
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

async fn create(
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
        access: None,
    };
    let created = creating(&state, &caller, &request, &body, async |management| {
        effect_of(&state, Operating::new(management), act.clone()).await
    });
    answer(&state, created.await?)
}

async fn show(
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
async fn update(
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

async fn delete(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    answer(&state, guarded.make(&state, &caller, Act::DeleteClient { client: guarded.read.id.into() }).await?)
}

async fn secrets(
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

async fn rotate(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<NewSecret>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let keep_old = body.value.keep_old.map_or(Some(KeepOld::USUAL), KeepOld::seconds);
    let keep_old = keep_old.ok_or_else(|| {
        Problem::invalid("keep_old", format!("it takes at most {} seconds", KeepOld::LONGEST))
    })?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    answer(
        &state,
        guarded.make(&state, &caller, Act::RotateSecret { client: guarded.read.id.into(), keep_old }).await?,
    )
}

async fn open(
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
    answer(&state, guarded.make(&state, &caller, Act::OpenResources { client, resources }).await?)
}

async fn close(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<ResourceUris>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let (client, resources) = (guarded.read.id.into(), body.value.resources);
    answer(&state, guarded.make(&state, &caller, Act::CloseResources { client, resources }).await?)
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
    async fn make(&self, state: &AdminState, caller: &Caller, act: Act) -> Result<Effect, Problem> {
        let management = Management { clients: &self.clients, ..state.management_for(caller) };
        make(state, Operating::new(management), act, self.is_of_tag).await
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
