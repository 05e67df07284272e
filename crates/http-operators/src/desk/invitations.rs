//! `/admin/invitations`: links that put people into groups.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::{ActField, ActName};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, InvitationId};
use countersign_domain::invitation::{Invitation, InvitationState, InvitationUse};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::people::invitations::list_invitations;
use serde::Serialize;
use time::OffsetDateTime;

use super::admit::Visit;
use super::forms::Form;
use super::names::NameOf;
use super::query::{Pager, Query, wrong_row};
use super::sent::Sent;
use super::show::{About, Here};
use super::view::{WalletView, unavailable};

/// How many wallets the page of an invitation lists.
const MOST_SHOWN: u32 = 200;

#[derive(Serialize)]
struct Invitations {
    invitations: Vec<InvitationRow>,
    /// The group whose invitations are listed.
    group: Option<String>,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct InvitationRow {
    id: String,
    group: String,
    /// `open`, `used`, `expired` or `revoked`.
    state: &'static str,
    uses: u32,
    used: u32,
    name: Option<String>,
    inviter: Option<String>,
    created: Moment,
    expires: Moment,
    revoked: Option<Moment>,
    form: Option<Form>,
}

#[derive(Serialize)]
struct InvitationPage {
    #[serde(flatten)]
    invitation: InvitationRow,
    client: Option<ClientLink>,
    wallets: Vec<UseRow>,
    forms: Vec<Form>,
}

/// The client that an invitation leads to.
#[derive(Serialize)]
struct ClientLink {
    id: String,
    /// Its name; none if it was deleted.
    name: Option<String>,
}

#[derive(Serialize)]
struct UseRow {
    wallet: WalletView,
    used: Moment,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after", "group"]);
    let after = query.after().map(|after| InvitationId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let group = query.text("group").map(GroupName::parse).transpose().map_err(|_| ApiError::not_found())?;
    let management = visit.management();
    let listed = list_invitations(management, group.as_ref(), after, query.limit()?).await;
    let listed = listed.map_err(unavailable)?;
    let now = management.clock.now();
    let next = listed.invitations.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let rows = listed.invitations.iter().enumerate();
    let known = Sent::default().with(ActField::GroupOfMember, &group);
    let page = Invitations {
        invitations: rows
            .map(|(number, found)| InvitationRow::of(found, now).changed(&visit, number))
            .collect(),
        pager: query.pager(next),
        forms: vec![visit.make_form(ActName::CreateInvitation, &known)],
        group: group.map(|group| group.to_string()),
    };
    visit.page(DeskPage::Invitations, Here::Invitations, &page).await
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = InvitationId::parse(&id).ok_or_else(ApiError::not_found)?;
    let management = visit.management();
    let found = management.storage.find_invitation(id).await.map_err(unavailable)?;
    let found = found.ok_or_else(ApiError::not_found)?;
    let uses = management.storage.uses_of_invitation(id, MOST_SHOWN).await.map_err(unavailable)?;
    let client = match found.client {
        Some(client) => Some(client_link(&visit, client).await?),
        None => None,
    };
    let row = InvitationRow::of(&found, management.clock.now());
    let wallets = uses.iter().map(|used| UseRow::of(&visit, used)).collect();
    let forms = row.revocation(&visit).into_iter().collect();
    let about = About { subject: Some(NameOf::text(found.group.as_str())), ..About::default() };
    let page = InvitationPage { invitation: row, client, wallets, forms };
    visit.show(DeskPage::Invitation, Here::Invitations, about, StatusCode::OK, &page).await
}

async fn client_link(visit: &Visit, id: ClientId) -> Result<ClientLink, ApiError> {
    let client = visit.management().clients.find_fresh(id).await.map_err(unavailable)?;
    Ok(ClientLink { id: id.to_string(), name: client.map(|client| client.shown_name().into_owned()) })
}

impl InvitationRow {
    fn of(invitation: &Invitation, now: OffsetDateTime) -> Self {
        Self {
            id: invitation.id.to_string(),
            group: invitation.group.to_string(),
            state: invitation.state(now).name(),
            uses: invitation.uses,
            used: invitation.used,
            name: invitation.name.as_ref().map(ToString::to_string),
            inviter: invitation.inviter.as_ref().map(ToString::to_string),
            created: Moment::at(invitation.created_at),
            expires: Moment::at(invitation.expires_at),
            revoked: invitation.revoked_at.map(Moment::at),
            form: None,
        }
    }

    /// The form that revokes it, unless it ended.
    fn revocation(&self, visit: &Visit) -> Option<Form> {
        let known = Sent::default().with(ActField::Invitation, [&self.id]);
        let is_open = self.state == InvitationState::Open.name();
        is_open.then(|| visit.make_form(ActName::RevokeInvitation, &known))
    }

    fn changed(self, visit: &Visit, number: usize) -> Self {
        let form = self.revocation(visit).map(|form| form.numbered(number, &self.group));
        Self { form, ..self }
    }
}

impl UseRow {
    fn of(visit: &Visit, used: &InvitationUse) -> Self {
        Self {
            wallet: WalletView::of(&*visit.state.context.wallets, &used.wallet),
            used: Moment::at(used.used_at),
        }
    }
}
