//! `/resources`: the APIs that access tokens can be for, with scopes of their own.

use std::collections::BTreeMap;

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName, ResourceWords, UsedBy};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::group::GroupName;
use countersign_domain::resource::{
    DeclaredResource, OpenTo, Resource, ResourceName, ResourceScope, ScopeTitle,
};
use countersign_domain::scope::ScopeName;
use countersign_http_actix::openapi::formats::GROUP;
use countersign_http_actix::page::language::page_languages;
use countersign_operators::operate::{Effect, Operating};
use countersign_usecases::Management;
use countersign_usecases::clients::declare_resource::list_resources;
use countersign_usecases::context::resources::Resources;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AdminState;
use super::admit::Caller;
use super::make::{effect_of, make};
use super::operations::{Cursor, Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, creating, one};
use super::schemas::{self, ADDRESS, Schema, items, request, title};

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/resources",
        ("listResources", "resource list"),
        (AdminArea::Clients, AdminRight::Read),
        ("List resources", "Those in the settings first."),
        || web::get().to(list),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Uri)])
    .answers(200, RESOURCE_LIST),
    act(
        ActName::CreateResource,
        ("Declare a resource", "An API that access tokens can be for, with scopes of its own."),
        || web::post().to(create),
    )
    .takes(NEW_RESOURCE)
    .answers(201, RESOURCE)
    .repeatable(),
    operation(
        "GET",
        "/resources/{uri}",
        ("showResource", "resource list"),
        (AdminArea::Clients, AdminRight::Read),
        (
            "Show a resource",
            "One that is declared in the database. The URI is percent-encoded, with its slashes.",
        ),
        || web::get().to(show),
    )
    .answers(200, RESOURCE)
    .tagged(),
    act(
        ActName::UpdateResource,
        (
            "Change a resource",
            "All of it: a scope that is not sent is taken away, which clients and sign-ins may use.",
        ),
        || web::put().to(update),
    )
    .asks(&[Parameter::Force])
    .takes(RESOURCE_UPDATE)
    .answers(200, RESOURCE)
    .tagged()
    .guarded()
    .conflicts(),
    act(ActName::DeleteResource, ("Delete a resource", "From then on no token is issued for it."), || {
        web::delete().to(delete)
    })
    .asks(&[Parameter::Force])
    .answers_nothing()
    .guarded()
    .conflicts(),
];

const NEW_RESOURCE: Schema = Schema::body::<NewResource>(
    "NewResource",
    || {
        let rules = [("uri", json!({"pattern": ADDRESS})), ("name", title()), ("open_to", open_to())];
        items(request::<NewResource>(&["uri", "scopes"], &rules), "scopes", scope_request())
    },
    || {
        json!({
            "uri": "https://api.example",
            "name": "Photo Store",
            "scopes": [{"name": "photos.read", "title": "See your photos"}],
        })
    },
);

const RESOURCE_UPDATE: Schema = Schema::body::<ResourceUpdate>(
    "ResourceUpdate",
    || {
        let rules = [("name", title()), ("open_to", open_to())];
        items(request::<ResourceUpdate>(&["scopes"], &rules), "scopes", scope_request())
    },
    || json!({"open_to": "named", "scopes": [{"name": "photos.read"}]}),
);

const RESOURCE: Schema = Schema::answer("Resource", resource);

const RESOURCE_LIST: Schema =
    Schema::answer("ResourceList", || schemas::page::<ResourceList>(Cursor::Uri.schema(), resource()));

fn resource() -> Value {
    items(schemas::answer::<ResourceBody>(&[]), "scopes", schemas::answer::<ScopeBody>(&[]))
}

fn scope_request() -> Value {
    request::<ScopeRequest>(
        &["name"],
        &[
            ("name", json!({"pattern": "^[a-z]{1,20}\\.[a-z]{1,20}$"})),
            ("title", title()),
            ("titles", json!({"maxProperties": 0})),
            ("needs", json!({"pattern": GROUP})),
        ],
    )
}

fn open_to() -> Value {
    json!({"enum": ["everyone", "named", null]})
}

/// A scope of a resource.
#[derive(Clone, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct ScopeRequest {
    /// Its name.
    name: String,
    /// What people read about it. Without a title they read the name.
    title: Option<String>,
    /// The title in other languages of the pages.
    titles: Option<BTreeMap<String, String>>,
    /// The group that a user must be in to get it.
    needs: Option<String>,
}

/// A new resource.
#[derive(Clone, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct NewResource {
    /// An absolute URI without a fragment. Requests must repeat it byte for byte.
    uri: String,
    /// What people read before the URI when they are asked to give access to it.
    name: Option<String>,
    /// `everyone`, which is usual, or `named`: which clients can ask for it.
    open_to: Option<String>,
    /// Its scopes.
    scopes: Vec<ScopeRequest>,
}

/// What a resource is from now on.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct ResourceUpdate {
    /// What people read before the URI. Without it they read the URI alone.
    name: Option<String>,
    /// `everyone`, which is usual, or `named`: which clients can ask for it.
    open_to: Option<String>,
    /// All of its scopes. One that is not named is taken away.
    scopes: Vec<ScopeRequest>,
}

/// A resource.
#[derive(Serialize, Apiv2Schema)]
struct ResourceBody {
    /// Its URI.
    uri: String,
    /// What people read before the URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Which clients can ask for it: `everyone` or `named`.
    open_to: String,
    /// `database`, or `settings` for those that only the settings can change.
    declared_in: String,
    /// Its scopes, by name.
    scopes: Vec<ScopeBody>,
    /// When it was declared. Not for those in the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

/// A scope of a resource.
#[derive(Serialize, Apiv2Schema)]
struct ScopeBody {
    /// Its name.
    name: String,
    /// What people read about it.
    title: String,
    /// The title in other languages.
    titles: BTreeMap<String, String>,
    /// The group that a user must be in to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
}

/// A page of resources: those in the settings first, each part by URI.
#[derive(Serialize, Apiv2Schema)]
struct ResourceList {
    /// The resources.
    items: Vec<ResourceBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let management = state.management();
    let catalog = list_resources(management).await?;
    let of_settings = management.policy.resources.of_settings().iter().map(ResourceBody::of_settings);
    let mut items: Vec<_> = of_settings.chain(catalog.resources().iter().map(ResourceBody::of)).collect();
    if let Some(after) = query.text("after") {
        let place = items.iter().position(|item| item.uri == after);
        let wrong = || Problem::invalid("after", "it is not what `next` of the list before said");
        items.drain(..=place.ok_or_else(wrong)?);
    }
    let most = usize::try_from(query.limit()?).unwrap_or(usize::MAX);
    let more = items.len() > most;
    items.truncate(most);
    let next = items.last().filter(|_| more).map(|last| last.uri.clone());
    Ok(HttpResponse::Ok().json(ResourceList { items, next }))
}

async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<NewResource>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let NewResource { uri, name, open_to, scopes } = body.value.clone();
    let name = name_of(name.as_deref())?;
    let (open_to, scopes) = (open_to_of(open_to.as_deref())?, scopes_of(scopes)?);
    let act = Act::CreateResource { resource: ResourceWords { uri, name, open_to, scopes } };
    let created = creating(&state, &caller, &request, &body, async |management| {
        effect_of(&state, Operating::new(management), act.clone()).await
    });
    answer(created.await?)
}

async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    uri: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    one(&ResourceBody::of(&find(state.management(), &uri).await?))
}

async fn update(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    uri: Path<String>,
    body: Json<ResourceUpdate>,
) -> Result<HttpResponse, Problem> {
    let insists = Query::of(&request, &["force"])?.is_true("force")?;
    let read = find(state.management_for(&caller), &uri).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&ResourceBody::of(&read))?;
    let resources = guarded(&state, &read, is_of_tag);
    let management = Management { resources: &resources, ..state.management_for(&caller) };
    let ResourceUpdate { name, open_to, scopes } = body.value;
    let (name, open_to) = (name_of(name.as_deref())?, open_to_of(open_to.as_deref())?);
    let resource = ResourceWords { uri: read.uri, name, open_to, scopes: scopes_of(scopes)? };
    let act = Act::UpdateResource { resource, used_by: UsedBy::default() };
    answer(make(&state, Operating::new(management).insisting(insists), act, is_of_tag).await?)
}

async fn delete(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    uri: Path<String>,
) -> Result<HttpResponse, Problem> {
    let insists = Query::of(&request, &["force"])?.is_true("force")?;
    let read = find(state.management_for(&caller), &uri).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&ResourceBody::of(&read))?;
    let resources = guarded(&state, &read, is_of_tag);
    let management = Management { resources: &resources, ..state.management_for(&caller) };
    let act = Act::DeleteResource { uri: read.uri, used_by: UsedBy::default() };
    answer(make(&state, Operating::new(management).insisting(insists), act, is_of_tag).await?)
}

/// Answers with what an act on a resource did.
fn answer(effect: Effect) -> Result<HttpResponse, Problem> {
    if let Effect::ResourceCreated(resource) = &effect {
        return Ok(HttpResponse::Created().json(ResourceBody::of(resource)));
    }
    if let Effect::ResourceChanged(changed) = &effect {
        return one(&ResourceBody::of(&changed.now));
    }
    if let Effect::ResourceDeleted(_) = &effect {
        return Ok(HttpResponse::NoContent().finish());
    }
    Err(Problem::nothing_here())
}

fn guarded(state: &AdminState, read: &Resource, is_of_tag: bool) -> Resources {
    let resources = state.management().resources;
    if is_of_tag { resources.only_if_still(read.clone()) } else { resources.clone() }
}

async fn find(management: Management<'_>, uri: &str) -> Result<Resource, Problem> {
    let catalog = list_resources(management).await?;
    let unknown = || Problem::not_found("no such resource is declared in the database").about("uri");
    catalog.resource(uri).cloned().ok_or_else(unknown)
}

fn name_of(text: Option<&str>) -> Result<Option<ResourceName>, Problem> {
    let name = text.map(ResourceName::parse).transpose();
    name.map_err(|rejected| Problem::invalid("name", format!("it {rejected}")))
}

fn open_to_of(text: Option<&str>) -> Result<OpenTo, Problem> {
    let open_to = text.map_or(Some(OpenTo::Everyone), OpenTo::parse);
    open_to.ok_or_else(|| Problem::invalid("open_to", "it is everyone or named"))
}

fn scopes_of(requested: Vec<ScopeRequest>) -> Result<Vec<ResourceScope>, Problem> {
    let mut scopes: Vec<ResourceScope> = Vec::with_capacity(requested.len());
    for (place, requested) in requested.into_iter().enumerate() {
        let wrong = |field: &str, rule: String| Problem::invalid(format!("scopes[{place}].{field}"), rule);
        let name = ScopeName::parse(&requested.name)
            .map_err(|rejected| wrong("name", format!("a name {rejected}")))?;
        if scopes.iter().any(|scope| scope.name == name) {
            return Err(wrong("name", format!("{name} is named twice")));
        }
        let title = match requested.title {
            Some(text) => {
                ScopeTitle::parse(&text).map_err(|rejected| wrong("title", format!("it {rejected}")))?
            }
            None => ScopeTitle::of_name(&name),
        };
        let mut titles = BTreeMap::new();
        for (language, text) in requested.titles.unwrap_or_default() {
            if !page_languages().any(|known| known == language) {
                let known = page_languages().collect::<Vec<_>>().join(", ");
                return Err(wrong("titles", format!("the languages of the pages are {known}")));
            }
            let title = ScopeTitle::parse(&text)
                .map_err(|rejected| wrong(&format!("titles.{language}"), format!("it {rejected}")))?;
            titles.insert(language, title);
        }
        let needs = requested.needs.as_deref().map(GroupName::parse).transpose();
        let needs = needs.map_err(|rejected| wrong("needs", rejected.to_string()))?;
        scopes.push(ResourceScope { name, title, titles, needs });
    }
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scopes)
}

impl ResourceBody {
    fn of(resource: &Resource) -> Self {
        Self {
            uri: resource.uri.clone(),
            name: resource.name.as_ref().map(|name| name.as_str().to_owned()),
            open_to: resource.open_to.name().to_owned(),
            declared_in: "database".to_owned(),
            scopes: resource.scopes.iter().map(ScopeBody::of).collect(),
            created_at: Some(iso8601(resource.created_at)),
        }
    }

    fn of_settings(resource: &DeclaredResource) -> Self {
        Self {
            uri: resource.uri.clone(),
            name: None,
            open_to: resource.open_to.name().to_owned(),
            declared_in: "settings".to_owned(),
            scopes: Vec::new(),
            created_at: None,
        }
    }
}

impl ScopeBody {
    fn of(scope: &ResourceScope) -> Self {
        let titles = scope.titles.iter();
        let titles = titles.map(|(language, title)| (language.clone(), title.as_str().to_owned()));
        Self {
            name: scope.name.to_string(),
            title: scope.title.as_str().to_owned(),
            titles: titles.collect(),
            needs: scope.needs.as_ref().map(GroupName::to_string),
        }
    }
}
