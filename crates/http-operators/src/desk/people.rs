//! `/admin/people`: users.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::ActName;
use countersign_domain::client::Client;
use countersign_domain::desk::operators::Suspension;
use countersign_domain::group::{GroupName, Through};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::people::list_people::{ListPeopleError, sort_people};
use countersign_operators::people::read_person::{PersonRead, read_person};
use countersign_operators::people::suspend::suspension_of;
use countersign_ports::{
    PeopleFilter, PeopleOrder, Person, PersonListed, PersonPlace, SortPeople, SortedPeople, Total,
    WalletVerifier,
};
use serde::Serialize;

use super::admit::Visit;
use super::forms::Form;
use super::lists::{Head, Sort, counted, from_micros, micros, sorted};
use super::names::{NameOf, UserView, known};
use super::query::{Pager, Query, cursor, from_cursor, wrong_row};
use super::sent::Sent;
use super::show::{About, Here, Notice};
use super::view::{BlockView, WalletView, unavailable};

/// How many wallets of a user a list shows.
const SHOWN_WALLETS: usize = 2;

#[derive(Serialize)]
struct People<'a> {
    people: Vec<PersonRow>,
    total: String,
    filter: Filter<'a>,
    sorts: BTreeMap<&'static str, Head>,
    kept: Vec<(&'static str, String)>,
    pager: Pager,
}

#[derive(Serialize)]
struct Filter<'a> {
    group: Option<&'a str>,
    blocked: bool,
}

#[derive(Serialize)]
struct PersonRow {
    user: UserView,
    wallets: Vec<WalletView>,
    more_wallets: usize,
    created: Moment,
    last_sign_in: Option<Moment>,
    block: Option<BlockView>,
    is_suspended: bool,
}

#[derive(Serialize)]
struct PersonPage {
    user: UserView,
    created: Moment,
    last_sign_in: Option<Moment>,
    block: Option<BlockView>,
    /// The suspension, if they are suspended as an operator.
    suspension: Option<BlockView>,
    is_operator: bool,
    wallets: Vec<LinkedRow>,
    memberships: Vec<MembershipRow>,
    sessions: Vec<SessionRow>,
    grants: Vec<GrantRow>,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct LinkedRow {
    #[serde(flatten)]
    wallet: WalletView,
    linked: Moment,
    block: Option<BlockView>,
}

#[derive(Serialize)]
struct MembershipRow {
    name: String,
    /// The wallet that brings it, unless the user is in the group.
    through: Option<WalletView>,
}

#[derive(Serialize)]
struct SessionRow {
    browser: String,
    wallet: WalletView,
    signed_in: Moment,
    used: Moment,
    ends: Moment,
}

#[derive(Serialize)]
struct GrantRow {
    client: NamedClient,
    scopes: String,
    since: Moment,
    used: Moment,
}

#[derive(Serialize)]
struct NamedClient {
    id: String,
    name: String,
}

/// The orders of the list, the usual one first.
const SORTS: [Sort<PeopleOrder>; 2] =
    [("last_sign_in", PeopleOrder::LastSeen, "descending"), ("created", PeopleOrder::Created, "descending")];

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["group", "blocked", "sort", "limit", "after"]);
    let (order, sorts) = sorted(&query, &SORTS)?;
    let (after, limit) = (query.after().map(place_of).transpose()?, query.limit()?);
    let filter = Filter { group: query.text("group"), blocked: query.is_true("blocked") };
    let group = filter.group.map(GroupName::parse).transpose();
    let listed = match group {
        Ok(group) => {
            let wanted = PeopleFilter { group, blocked: filter.blocked };
            match sort_people(visit.management(), SortPeople { filter: wanted, order, after, limit }).await {
                Ok(listed) => Ok(listed),
                Err(error @ ListPeopleError::GroupUnknown(_)) => Err(error.to_string()),
                Err(ListPeopleError::Store(error)) => return Err(unavailable(error)),
            }
        }
        Err(rejected) => Err(rejected.to_string()),
    };
    let (listed, refused) = match listed {
        Ok(listed) => (listed, None),
        Err(refused) => {
            (SortedPeople { people: Vec::new(), next: None, total: Total::default() }, Some(refused))
        }
    };
    let wallets = &*visit.state.context.wallets;
    let who = listed.people.iter().map(|person| Subject::User(person.id)).collect();
    let suspensions = visit.management().storage.suspensions_of(who).await.map_err(unavailable)?;
    let rows = listed.people.iter().zip(suspensions);
    let page = People {
        people: rows.map(|(person, found)| PersonRow::of(wallets, person, found.is_some())).collect(),
        total: counted(listed.total),
        filter,
        sorts,
        kept: query.kept(),
        pager: query.pager(listed.next.map(row_of)),
    };
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let notice = refused.map(|why| Notice::because("filter", why));
    visit.show(DeskPage::People, Here::People, About { notice, ..About::default() }, status, &page).await
}

/// The name of a row of the list.
fn row_of(place: PersonPlace) -> String {
    cursor(&[&micros(place.at), &place.user.to_string()])
}

fn place_of(row: &str) -> Result<PersonPlace, ApiError> {
    let parts = from_cursor(row)?;
    let [at, user] = parts.as_slice() else { return Err(wrong_row()) };
    Ok(PersonPlace { at: from_micros(at)?, user: UserId::parse(user).ok_or_else(wrong_row)? })
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = UserId::parse(&id).ok_or_else(ApiError::not_found)?;
    let read = read_person(visit.management(), id).await.map_err(unavailable)?;
    let read = read.ok_or_else(ApiError::not_found)?;
    let wallets = &*visit.state.context.wallets;
    let known = known(visit.management().storage, &Subject::User(id)).await.map_err(unavailable)?;
    let suspension =
        suspension_of(visit.management().storage, Subject::User(id)).await.map_err(unavailable)?;
    let is_operator = is_operator(&visit, &read.person);
    let mut forms = forms(&visit, &known, &read.person, is_operator);
    let act = if suspension.is_some() { ActName::RestoreOperator } else { ActName::SuspendOperator };
    forms.extend((is_operator || suspension.is_some()).then(|| visit.make_form(act, &known)));
    let page = PersonPage::of(wallets, read, Office { suspension, is_operator, forms });
    let about = About { subject: Some(NameOf::user(id).or(id.to_string())), ..About::default() };
    visit.show(DeskPage::Person, Here::People, about, StatusCode::OK, &page).await
}

/// What operators know and can do about a person beside what is stored with them.
struct Office {
    suspension: Option<Suspension>,
    is_operator: bool,
    forms: Vec<Form>,
}

/// Do the settings make an operator of this person?
fn is_operator(visit: &Visit, person: &Person) -> bool {
    let groups: Vec<GroupName> =
        person.memberships.iter().map(|membership| membership.group.clone()).collect();
    let policy = visit.state.context.policy.desk.as_ref();
    let is_operators = |account: &WalletAccount| policy.is_some_and(|policy| policy.names(account, &groups));
    person.listed.wallets.iter().any(|linked| is_operators(&linked.account))
}

fn forms(visit: &Visit, known: &Sent, person: &Person, is_operator: bool) -> Vec<Form> {
    let block = if person.listed.block.is_some() { ActName::UnblockUser } else { ActName::BlockUser };
    let changes = [ActName::NameUser, block, ActName::SignOut, ActName::AddMembers, ActName::DeleteUser];
    changes.into_iter().map(|name| visit.make_form(name, known).of_operator(is_operator)).collect()
}

impl PersonRow {
    fn of(wallets: &dyn WalletVerifier, person: &PersonListed, is_suspended: bool) -> Self {
        let shown = person.wallets.iter().take(SHOWN_WALLETS);
        Self {
            user: UserView::of(person.id),
            wallets: shown.map(|linked| WalletView::of(wallets, &linked.account)).collect(),
            more_wallets: person.wallets.len().saturating_sub(SHOWN_WALLETS),
            created: Moment::at(person.created_at),
            last_sign_in: person.last_sign_in_at.map(Moment::at),
            block: person.block.as_ref().map(BlockView::of),
            is_suspended,
        }
    }
}

impl PersonPage {
    fn of(wallets: &dyn WalletVerifier, PersonRead { person, clients }: PersonRead, office: Office) -> Self {
        let view = |account| WalletView::of(wallets, account);
        let of_wallets = person.listed.wallets.iter().map(|linked| LinkedRow {
            wallet: view(&linked.account),
            linked: Moment::at(linked.linked_at),
            block: person
                .blocked_wallets
                .iter()
                .find(|blocked| {
                    (&blocked.account.family, &blocked.account.address)
                        == (&linked.account.family, &linked.account.address)
                })
                .map(|blocked| BlockView::of(&blocked.block)),
        });
        let memberships = person.memberships.iter().map(|membership| MembershipRow {
            name: membership.group.to_string(),
            through: match &membership.through {
                Through::User => None,
                Through::Wallet(account) => Some(view(account)),
            },
        });
        let sessions = person.sessions.iter().map(|session| SessionRow {
            browser: session.browser.clone(),
            wallet: view(&session.account),
            signed_in: Moment::at(session.authenticated_at),
            used: Moment::at(session.last_used_at),
            ends: Moment::at(session.expires_at),
        });
        let grants = person.consents.iter().map(|consent| {
            let id = consent.client.to_string();
            let name = clients.get(&consent.client).map(Client::shown_name);
            GrantRow {
                client: NamedClient { name: name.map_or_else(|| id.clone(), Into::into), id },
                scopes: consent.scope.to_string(),
                since: Moment::at(consent.granted_at),
                used: Moment::at(consent.last_used_at),
            }
        });
        Self {
            user: UserView::of(person.listed.id),
            created: Moment::at(person.listed.created_at),
            last_sign_in: person.listed.last_sign_in_at.map(Moment::at),
            block: person.listed.block.as_ref().map(BlockView::of),
            suspension: office.suspension.as_ref().map(BlockView::of_suspension),
            is_operator: office.is_operator,
            wallets: of_wallets.collect(),
            memberships: memberships.collect(),
            sessions: sessions.collect(),
            grants: grants.collect(),
            forms: office.forms,
        }
    }
}
