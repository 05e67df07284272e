//! `/admin/access`: who can sign in to each client.

use actix_web::HttpResponse;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::name::DeskPage;
use countersign_usecases::clients::list_clients::list_clients;
use serde::Serialize;

use super::admit::Visit;
use super::clients::AccessView;
use super::query::{Pager, Query, wrong_row};
use super::show::Here;
use super::view::unavailable;

#[derive(Serialize)]
struct Access {
    default_access: String,
    clients: Vec<AccessRow>,
    pager: Pager,
}

/// A client, and who can sign in to it.
#[derive(Serialize)]
pub(super) struct AccessRow {
    id: String,
    name: String,
    #[serde(flatten)]
    access: AccessView,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after"]);
    let after = query.after().map(|after| ClientId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let listed = list_clients(visit.management(), after, query.limit()?).await.map_err(unavailable)?;
    let next = listed.clients.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let page = Access {
        default_access: visit.state.context.policy.default_access.to_string(),
        clients: listed.clients.iter().map(|client| AccessRow::of(&visit, client)).collect(),
        pager: query.pager(next),
    };
    visit.page(DeskPage::Access, Here::Access, &page).await
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
