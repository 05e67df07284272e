//! `/admin/clients`: clients, their secrets, and what is open to them.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::{ActField, ActName};
use countersign_domain::admission::Release;
use countersign_domain::client::{Client, ClientAuthentication, ClientOrigin};
use countersign_domain::client_field::ClientField;
use countersign_domain::client_view::FieldValue;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::people::find_who::{FindWhoError, find_who};
use countersign_ports::{
    ClientFilter, ClientListed, ClientOrder, ClientPlace, LetsIn, SecretRecord, SortClients, SortedClients,
    Total,
};
use countersign_usecases::clients::rotate_client_secret::read_secrets;
use serde::Serialize;

use super::admit::Visit;
use super::forms::Form;
use super::lists::{Head, Sort, counted, from_micros, micros, sorted};
use super::names::NameOf;
use super::query::{Pager, Query, cursor, from_cursor, wrong_row};
use super::sent::Sent;
use super::show::{About, Here, Notice};
use super::tried::TriedView;
use super::view::unavailable;

#[derive(Serialize)]
struct Clients<'a> {
    clients: Vec<ClientRow>,
    total: String,
    /// Who can sign in to clients without a rule of their own.
    default_access: String,
    origins: [&'static str; ClientOrigin::ALL.len()],
    filter: Filter<'a>,
    sorts: BTreeMap<&'static str, Head>,
    kept: Vec<(&'static str, String)>,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct Filter<'a> {
    rule: Option<&'a str>,
    registered_by: Option<&'a str>,
}

#[derive(Serialize)]
struct ClientRow {
    id: String,
    name: String,
    registered_by: &'static str,
    access: AccessView,
    used: Option<Moment>,
    created: Moment,
}

/// A client, and who can sign in to it.
#[derive(Serialize)]
pub(super) struct AccessRow {
    id: String,
    name: String,
    #[serde(flatten)]
    access: AccessView,
}

#[derive(Serialize)]
struct ClientPage {
    id: String,
    name: String,
    registered_by: &'static str,
    document: Option<String>,
    facts: Vec<Fact>,
    created: Moment,
    access: AccessView,
    secrets: Vec<SecretRow>,
    resources: Vec<ResourceRow>,
    /// The wallet or user of which it was asked whether it would get in.
    who: Option<String>,
    tried: Vec<TriedView>,
    forms: Vec<Form>,
}

/// Something that a client registered, by the name of its field.
#[derive(Serialize)]
struct Fact {
    key: &'static str,
    values: Vec<String>,
}

/// Who can sign in to a client, and which groups it gets.
#[derive(Serialize)]
struct AccessView {
    /// The first word of the rule.
    rule: String,
    groups: Vec<String>,
    /// Is it the client's own rule?
    own: bool,
    /// `all` or `a,b`; none if the rule decides.
    release: Option<String>,
}

#[derive(Serialize)]
struct SecretRow {
    created: Option<Moment>,
    expires: Option<Moment>,
    used: Option<Moment>,
}

#[derive(Serialize)]
struct ResourceRow {
    uri: String,
    form: Option<Form>,
}

/// The orders of the list, the usual one first.
const SORTS: [Sort<ClientOrder>; 3] = [
    ("name", ClientOrder::Name, "ascending"),
    ("last_used", ClientOrder::LastUse, "descending"),
    ("created", ClientOrder::Created, "descending"),
];

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["rule", "registered_by", "sort", "limit", "after"]);
    let (order, sorts) = sorted(&query, &SORTS)?;
    let (after, limit) = (query.after().map(place_of).transpose()?, query.limit()?);
    let filter = Filter { rule: query.text("rule"), registered_by: query.text("registered_by") };
    let (wanted, refused) = match filter.wanted() {
        Ok(wanted) => (Some(wanted), None),
        Err(refused) => (None, Some(refused)),
    };
    let default_access = visit.state.context.policy.default_access.clone();
    let about_default = default_access.to_string();
    let listed = match wanted {
        Some(filter) => {
            let question = SortClients { filter, default_access, order, after, limit };
            visit.management().clients.sort(question).await.map_err(unavailable)?
        }
        None => SortedClients { clients: Vec::new(), next: None, total: Total::default() },
    };
    let page = Clients {
        clients: listed.clients.iter().map(|listed| ClientRow::of(&visit, listed)).collect(),
        total: counted(listed.total),
        default_access: about_default,
        origins: ClientOrigin::ALL.map(ClientOrigin::name),
        filter,
        sorts,
        kept: query.kept(),
        pager: query.pager(listed.next.map(|next| row_of(&next))),
        forms: vec![visit.make_form(ActName::RegisterClient, &Sent::default())],
    };
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let notice = refused.map(|why| Notice::because("filter", why));
    visit.show(DeskPage::Clients, Here::Clients, About { notice, ..About::default() }, status, &page).await
}

impl Filter<'_> {
    fn wanted(&self) -> Result<ClientFilter, String> {
        let lets_in = self.rule.map(lets_in).transpose()?;
        let origin = self.registered_by.map(|name| {
            ClientOrigin::parse(name).ok_or_else(|| format!("no client is registered by {name}"))
        });
        Ok(ClientFilter { lets_in, origin: origin.transpose()? })
    }
}

/// Who can sign in: `default`, `everyone` or `groups:NAME`.
fn lets_in(text: &str) -> Result<LetsIn, String> {
    match text.strip_prefix("groups:") {
        Some(name) => Ok(LetsIn::Group(GroupName::parse(name).map_err(|rejected| rejected.to_string())?)),
        None if text == "default" => Ok(LetsIn::ByDefault),
        None if text == "everyone" => Ok(LetsIn::Everyone),
        None => Err("rule takes default, everyone, or groups:NAME".to_owned()),
    }
}

/// The name of a row of the list.
fn row_of(place: &ClientPlace) -> String {
    cursor(&[&micros(place.at), &place.client.to_string(), &place.name])
}

fn place_of(row: &str) -> Result<ClientPlace, ApiError> {
    let parts = from_cursor(row)?;
    let [at, client, name] = parts.as_slice() else { return Err(wrong_row()) };
    let client = ClientId::parse(client).ok_or_else(wrong_row)?;
    Ok(ClientPlace { name: name.clone(), at: from_micros(at)?, client })
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = ClientId::parse(&id).ok_or_else(ApiError::not_found)?;
    let management = visit.management();
    let client = management.clients.find_fresh(id).await.map_err(unavailable)?;
    let client = client.ok_or_else(ApiError::not_found)?;
    let secrets = match client.authentication {
        ClientAuthentication::Secret { .. } => read_secrets(management, id).await.map_err(unavailable)?,
        ClientAuthentication::Keys | ClientAuthentication::Public => Vec::new(),
    };
    let resources = client.resources.iter().enumerate().map(|(number, uri)| {
        let known = Sent::default().with(ActField::Client, [id]).with(ActField::Resources, [uri]);
        let form = visit.make_form(ActName::CloseResources, &known);
        ResourceRow { uri: uri.clone(), form: Some(form.numbered(number, uri)) }
    });
    let query = Query::of(&visit.request, &["who"]);
    let who = query.text("who");
    let (tried, notice) = match who {
        None => (Vec::new(), None),
        Some(text) => match find_who(management, text, None).await {
            Ok(who) => (TriedView::ask(&visit, &client, &who).await?, None),
            Err(FindWhoError::Store(error)) => return Err(unavailable(error)),
            Err(why) => (Vec::new(), Some(Notice::because("who", why))),
        },
    };
    let page = ClientPage {
        who: who.map(str::to_owned),
        tried,
        id: id.to_string(),
        name: client.metadata.name.clone(),
        registered_by: client.origin.name(),
        document: client.document.clone(),
        facts: facts(&client),
        created: Moment::at(client.created_at),
        access: AccessView::of(&visit, &client),
        secrets: secrets.iter().map(SecretRow::of).collect(),
        resources: resources.collect(),
        forms: forms(&visit, &client),
    };
    let about = About { subject: Some(NameOf::text(&page.name)), notice, ..About::default() };
    visit.show(DeskPage::Client, Here::Clients, about, StatusCode::OK, &page).await
}

fn forms(visit: &Visit, client: &Client) -> Vec<Form> {
    let known = Sent::of_client(client);
    let has_secret = matches!(client.authentication, ClientAuthentication::Secret { .. });
    let is_described = client.document.is_some();
    let changes = [
        ActName::ChangeClient,
        ActName::SetAccess,
        ActName::OpenResources,
        ActName::RotateSecret,
        ActName::DeleteClient,
    ];
    let fitting = changes.into_iter().filter(|name| {
        (!is_described || *name != ActName::ChangeClient) && (has_secret || *name != ActName::RotateSecret)
    });
    fitting.map(|change| visit.make_form(change, &known)).collect()
}

/// What the client registered besides its name. What has no value is left out.
fn facts(client: &Client) -> Vec<Fact> {
    let registered =
        ClientField::ALL.iter().filter(|field| field.is_stored() && **field != ClientField::Name);
    let facts = registered.map(|field| Fact {
        key: field.name(),
        values: match client.field(*field) {
            FieldValue::Text(text) => text.into_iter().map(String::from).collect(),
            FieldValue::Texts(texts) => texts.into_iter().map(str::to_owned).collect(),
            FieldValue::Number(number) => number.iter().map(ToString::to_string).collect(),
            FieldValue::Truth(true) => vec!["true".to_owned()],
            FieldValue::Truth(false) => Vec::new(),
        },
    });
    facts.filter(|fact| fact.values.iter().any(|value| !value.is_empty())).collect()
}

impl ClientRow {
    fn of(visit: &Visit, ClientListed { client, used_at }: &ClientListed) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.metadata.name.clone(),
            registered_by: client.origin.name(),
            access: AccessView::of(visit, client),
            used: used_at.map(Moment::at),
            created: Moment::at(client.created_at),
        }
    }
}

impl AccessRow {
    pub(super) fn of(visit: &Visit, client: &Client) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.metadata.name.clone(),
            access: AccessView::of(visit, client),
        }
    }
}

impl AccessView {
    fn of(visit: &Visit, client: &Client) -> Self {
        let rule = client.access.rule_or(&visit.state.context.policy.default_access);
        Self {
            rule: rule.to_string().split(':').next().unwrap_or_default().to_owned(),
            groups: rule.groups().iter().map(ToString::to_string).collect(),
            own: client.access.rule.is_some(),
            release: match &client.access.release {
                Release::OfRule => None,
                release @ (Release::All | Release::Groups(_)) => Some(release.to_string()),
            },
        }
    }
}

impl SecretRow {
    fn of(secret: &SecretRecord) -> Self {
        Self {
            created: secret.created_at.map(Moment::at),
            expires: secret.expires_at.map(Moment::at),
            used: secret.last_used_at.map(Moment::at),
        }
    }
}
