//! `/admin/groups`: groups, and who is in them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::{ActField, ActName};
use countersign_domain::client::Client;
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::people::list_groups::list_groups_after;
use countersign_ports::group_store::counted as members_counted;
use countersign_ports::{CountedGroup, GroupMember, MOST_LOOKED_THROUGH, Total};
use countersign_usecases::clients::list_clients::list_clients;
use serde::Serialize;

use super::admit::Visit;
use super::clients::AccessRow;
use super::forms::Form;
use super::lists::counted;
use super::names::{NameOf, UserView};
use super::query::{Pager, Query, cursor, from_cursor, wrong_row};
use super::sent::Sent;
use super::show::{About, Here};
use super::view::{WalletView, unavailable};

#[derive(Serialize)]
struct Groups {
    groups: Vec<GroupRow>,
    total: String,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct GroupRow {
    name: String,
    title: Option<String>,
    users: String,
    wallets: String,
    created: Moment,
}

#[derive(Serialize)]
struct GroupPage {
    #[serde(flatten)]
    group: GroupRow,
    /// Are its members operators?
    is_admins: bool,
    /// Does the setting `default_access` name it?
    is_default: bool,
    /// The scopes that only its members get.
    needed_by: Vec<String>,
    members: Vec<MemberRow>,
    pager: Pager,
    clients: Vec<AccessRow>,
    clients_pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct MemberRow {
    wallet: Option<WalletView>,
    /// The user; for a wallet, the one it belongs to.
    user: Option<UserView>,
    is_suspended: bool,
    added: Moment,
    form: Option<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after"]);
    let after = query.after().map(|after| GroupName::parse(after).map_err(|_| wrong_row())).transpose()?;
    let listed = list_groups_after(visit.management(), after.as_ref(), query.limit()?).await;
    let listed = listed.map_err(unavailable)?;
    let counting = MOST_LOOKED_THROUGH.saturating_add(1);
    let names = visit.management().storage.group_names(counting).await.map_err(unavailable)?;
    let next = listed.groups.last().filter(|_| listed.more).map(|last| last.group.name.to_string());
    let page = Groups {
        groups: listed.groups.iter().map(GroupRow::of).collect(),
        total: counted(Total::of(names.len())),
        pager: query.pager(next),
        forms: vec![visit.make_form(ActName::CreateGroup, &Sent::default())],
    };
    visit.page(DeskPage::Groups, Here::Groups, &page).await
}

/// How many clients a page looks through (K-10). Nothing else finds those that name a group.
const LOOKED_THROUGH: u32 = 500;

/// Shows a group with some of its members and some of the clients whose rules name it.
pub(super) async fn show(visit: Visit, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let name = GroupName::parse(&name).map_err(|_| ApiError::not_found())?;
    let query = Query::of(&visit.request, &["limit", "after", "clients_after"]);
    let after = query.after().map(member_of).transpose()?;
    let storage = visit.management().storage;
    let found = storage.find_group(&name).await.map_err(unavailable)?.ok_or_else(ApiError::not_found)?;
    let limit = query.limit()?;
    // One more than is shown, to know whether there are more.
    let mut members =
        storage.list_members(&name, after.as_ref(), limit.saturating_add(1)).await.map_err(unavailable)?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = members.len() > most;
    members.truncate(most);
    let next = members.last().filter(|_| more).map(|last| row_of(&last.member));
    let who = members.iter().map(|member| member.member.clone()).collect();
    let suspensions = storage.suspensions_of(who).await.map_err(unavailable)?;
    let rows = members.iter().zip(suspensions).enumerate();
    let (clients, next_client) = clients_that_name(&visit, &name, &query, most).await?;
    let catalog = visit.management().resources.read_fresh().await.map_err(unavailable)?;
    let policy = &visit.state.context.policy;
    let title = found.group.title.as_ref().map(GroupTitle::as_str);
    let known = Sent::default().with(ActField::Group, [&name]).with(ActField::GroupTitle, title);
    let forms =
        [ActName::AddMembers, ActName::CreateInvitation].into_iter().chain(ActName::about(ActField::Group));
    let forms = forms.map(|change| visit.make_form(change, &known));
    let page = GroupPage {
        is_admins: policy.desk.as_ref().is_some_and(|desk| desk.group.as_ref() == Some(&name)),
        is_default: policy.default_access.groups().contains(&name),
        needed_by: catalog.needing(&name).map(ToString::to_string).collect(),
        members: rows
            .map(|(number, (member, found))| MemberRow::of(&visit, &name, number, member, found.is_some()))
            .collect(),
        group: GroupRow::of(&found),
        pager: query.pager(next),
        clients,
        clients_pager: query.pager_by("clients_after", next_client),
        forms: forms.collect(),
    };
    let about = About { subject: Some(NameOf::text(name.as_str())), ..About::default() };
    visit.show(DeskPage::Group, Here::Groups, about, StatusCode::OK, &page).await
}

/// Up to `most` clients whose rule names the group, and the client after which the next page begins.
async fn clients_that_name(
    visit: &Visit,
    group: &GroupName,
    query: &Query,
    most: usize,
) -> Result<(Vec<AccessRow>, Option<String>), ApiError> {
    let after = query.text("clients_after");
    let after = after.map(|after| ClientId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let listed = list_clients(visit.management(), after, LOOKED_THROUGH).await.map_err(unavailable)?;
    let default = &visit.state.context.policy.default_access;
    let names_it = |client: &&Client| client.access.rule_or(default).groups().contains(group);
    let mut naming = listed.clients.iter().filter(names_it);
    let shown: Vec<&Client> = naming.by_ref().take(most).collect();
    let last = match naming.next() {
        Some(_) => shown.last().copied(),
        None => listed.clients.last().filter(|_| listed.more),
    };
    let next = last.map(|client| client.id.to_string());
    Ok((shown.into_iter().map(|client| AccessRow::of(visit, client)).collect(), next))
}

fn row_of(member: &Subject) -> String {
    match member {
        Subject::User(user) => cursor(&[&user.to_string()]),
        Subject::Wallet(WalletAccount { family, chain, address }) => cursor(&[family, chain, address]),
    }
}

fn member_of(after: &str) -> Result<Subject, ApiError> {
    let parts = from_cursor(after)?;
    if let [user] = parts.as_slice() {
        return UserId::parse(user).map(Subject::User).ok_or_else(wrong_row);
    }
    let [family, chain, address] = <[String; 3]>::try_from(parts).map_err(|_| wrong_row())?;
    Ok(Subject::Wallet(WalletAccount { family, chain, address }))
}

impl GroupRow {
    fn of(counted: &CountedGroup) -> Self {
        Self {
            name: counted.group.name.to_string(),
            title: counted.group.title.as_ref().map(|title| title.as_str().to_owned()),
            users: members_counted(counted.users),
            wallets: members_counted(counted.wallets),
            created: Moment::at(counted.group.created_at),
        }
    }
}

impl MemberRow {
    fn of(visit: &Visit, group: &GroupName, number: usize, row: &GroupMember, is_suspended: bool) -> Self {
        let known = Sent::of_who(&row.member).with(ActField::Group, [group]);
        let (wallet, about) = match &row.member {
            Subject::User(user) => (None, user.to_string()),
            Subject::Wallet(account) => (Some(account), account.shortened()),
        };
        let user = match &row.member {
            Subject::User(user) => Some(*user),
            Subject::Wallet(_) => row.user,
        };
        let form = visit.make_form(ActName::RemoveMembers, &known);
        Self {
            wallet: wallet.map(|account| WalletView::of(&*visit.state.context.wallets, account)),
            user: user.map(UserView::of),
            is_suspended,
            added: Moment::at(row.added_at),
            form: Some(form.numbered(number, &about)),
        }
    }
}
