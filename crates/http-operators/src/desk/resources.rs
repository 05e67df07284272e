//! `/admin/resources`: the APIs that access tokens can be for, with their scopes.

use actix_web::HttpResponse;
use countersign_domain::act::ActName;
use countersign_domain::resource::{DeclaredResource, Resource};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::language::Language;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_usecases::clients::declare_resource::list_resources;
use serde::Serialize;

use super::admit::Visit;
use super::forms::Form;
use super::query::{Pager, Query, wrong_row};
use super::sent::Sent;
use super::show::Here;
use super::view::unavailable;

#[derive(Serialize)]
struct Resources {
    resources: Vec<ResourceRow>,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct ResourceRow {
    uri: String,
    name: Option<String>,
    open_to: &'static str,
    in_settings: bool,
    created: Option<Moment>,
    scopes: Vec<ScopeRow>,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct ScopeRow {
    name: String,
    title: String,
    needs: Option<String>,
}

/// Lists those of the settings before those that were declared.
pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after"]);
    let most = usize::try_from(query.limit()?).unwrap_or(usize::MAX);
    let management = visit.management();
    let catalog = list_resources(management).await.map_err(unavailable)?;
    let of_settings = management.policy.resources.of_settings();
    let uris = of_settings.iter().map(|declared| &declared.uri);
    let uris: Vec<&String> = uris.chain(catalog.resources().iter().map(|resource| &resource.uri)).collect();
    let first = match query.after() {
        Some(after) => uris.iter().position(|uri| *uri == after).ok_or_else(wrong_row)? + 1,
        None => 0,
    };
    let next = uris.get(first..).and_then(|rest| rest.get(most).and(rest.get(most.saturating_sub(1))));
    let language = Language::of(&visit.request, None).tag();
    let rows = of_settings.iter().map(ResourceRow::of_settings);
    let declared = catalog.resources().iter().enumerate();
    let rows =
        rows.chain(declared.map(|(number, resource)| ResourceRow::of(&visit, number, resource, language)));
    let page = Resources {
        resources: rows.skip(first).take(most).collect(),
        pager: query.pager(next.map(|uri| (*uri).clone())),
        forms: vec![visit.make_form(ActName::CreateResource, &Sent::default())],
    };
    visit.page(DeskPage::Resources, Here::Resources, &page).await
}

impl ResourceRow {
    fn of_settings(declared: &DeclaredResource) -> Self {
        Self {
            uri: declared.uri.clone(),
            name: None,
            open_to: declared.open_to.name(),
            in_settings: true,
            created: None,
            scopes: Vec::new(),
            forms: Vec::new(),
        }
    }

    fn of(visit: &Visit, number: usize, resource: &Resource, language: &str) -> Self {
        let known = Sent::of_resource(resource);
        let forms = [ActName::UpdateResource, ActName::DeleteResource].into_iter();
        let forms = forms.map(|change| visit.make_form(change, &known));
        let scopes = resource.scopes.iter().map(|scope| ScopeRow {
            name: scope.name.to_string(),
            title: scope.title_in(language).to_owned(),
            needs: scope.needs.as_ref().map(ToString::to_string),
        });
        Self {
            uri: resource.uri.clone(),
            name: resource.name.as_ref().map(|name| name.as_str().to_owned()),
            open_to: resource.open_to.name(),
            in_settings: false,
            created: Some(Moment::at(resource.created_at)),
            scopes: scopes.collect(),
            forms: forms.map(|form| form.numbered(number, &resource.uri)).collect(),
        }
    }
}
