//! `/groups`: groups, and who is in them.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::scope::ScopeName;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::group_store::counted as members_counted;
use countersign_ports::{CountedGroup, GroupMember, Member};
use countersign_usecases::Management;
use countersign_usecases::people::Who;
use countersign_usecases::people::add_members::{AddMembersError, add_members};
use countersign_usecases::people::create_group::{CreateGroupError, create_group};
use countersign_usecases::people::delete_group::{DeleteGroupError, delete_group};
use countersign_usecases::people::list_groups::list_groups_after;
use countersign_usecases::people::read_group::read_group;
use countersign_usecases::people::remove_members::{RemoveMembersError, remove_members};
use countersign_usecases::people::retitle_group::{RetitleGroupError, retitle_group};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use super::AdminState;
use super::admit::Caller;
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, cursor, from_cursor, one, repeatable};
use super::who::{self, name_of};

/// A new group.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGroup {
    /// Its name, which clients see: up to 64 of `a-z 0-9 _ . : -`, first a letter.
    name: String,
    /// What operators call it.
    title: Option<String>,
}

/// A change of a group.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupUpdate {
    /// What operators call it; null takes the title away.
    title: Option<String>,
}

/// A group.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct GroupBody {
    /// Its name.
    name: String,
    /// What operators call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// When it was created.
    created_at: String,
    /// How many users were put into it. 1001 stands for more than 1000.
    users: u64,
    /// How many wallets were put into it. 1001 stands for more than 1000.
    wallets: u64,
}

/// A page of groups, in the order of their names.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct GroupList {
    /// The groups.
    items: Vec<GroupBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// What a group was good for that was deleted.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct GroupDeletedBody {
    /// Its name.
    name: String,
    /// How many users were in it. 1001 stands for more than 1000.
    users: u64,
    /// How many wallets were in it. 1001 stands for more than 1000.
    wallets: u64,
    /// The clients whose rules name it.
    clients: Vec<String>,
    /// The scopes of resources that need it.
    scopes: Vec<String>,
    /// Does the setting `default_access` name it?
    default_access: bool,
}

/// Some members of a group, and whom it lets in where.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MemberList {
    /// Users before wallets.
    items: Vec<MemberBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The clients that let its members in.
    clients: Vec<String>,
    /// Does the setting `default_access` name the group?
    default_access: bool,
}

/// A member of a group.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MemberBody {
    /// The wallet, as CAIP-10. Only if a wallet is the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet: Option<String>,
    /// The user; of a wallet, the one whom it belongs to, if anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Since when.
    added_at: String,
}

/// Users and wallets.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Members {
    /// Ids of users, addresses of wallets, or wallets with their chain (CAIP-10): 1 to 1000.
    members: Vec<String>,
    /// What an EVM address is: `key` or `contract`. Only needed if it could be either.
    kind: Option<String>,
}

/// What became of those who were to be members.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MembersAdded {
    /// One for each, in their order.
    items: Vec<MemberAddedBody>,
}

/// What became of somebody who was to be a member.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MemberAddedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// The user whom a wallet belongs to, if anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Is it a new member?
    added: bool,
}

/// What became of those who were to leave.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MembersRemoved {
    /// One for each, in their order.
    items: Vec<MemberRemovedBody>,
}

/// What became of somebody who was to leave.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct MemberRemovedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// The user whom a wallet belongs to, if anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Was it a member?
    removed: bool,
    /// How this user is still in the group.
    still_member_as: Vec<String>,
}

/// The most members of one request.
const MOST: usize = 1_000;

pub(super) async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let after = query.text("after").map(|after| {
        GroupName::parse(after)
            .map_err(|_| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let page = list_groups_after(state.management(), after.transpose()?.as_ref(), query.limit()?).await?;
    let next = page.groups.last().filter(|_| page.more).map(|last| last.group.name.to_string());
    let items = page.groups.into_iter().map(GroupBody::of).collect();
    Ok(HttpResponse::Ok().json(GroupList { items, next }))
}

pub(super) async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<NewGroup>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let name = GroupName::parse(&body.value.name)
        .map_err(|rejected| Problem::invalid("name", rejected.to_string()))?;
    let title = title_of(body.value.title.as_deref())?;
    let repeat = repeatable(&state, &caller, &request, &body).await?;
    let management = state.management_for(&caller);
    let management = repeat.as_ref().map_or(management, |repeat| repeat.of(management));
    let group = create_group(management, name, title).await.map_err(|error| match error {
        CreateGroupError::NameTaken => Problem::conflict(error.to_string()).about("name"),
        CreateGroupError::Store(error) => error.into(),
    })?;
    Ok(HttpResponse::Created().json(GroupBody::of(CountedGroup { group, users: 0, wallets: 0 })))
}

pub(super) async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    one(&GroupBody::of(find(state.management(), &name).await?))
}

pub(super) async fn update(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
    body: Json<GroupUpdate>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    if !body.fields.contains_key("title") {
        return Err(Problem::invalid("title", "it is missing; null takes the title away"));
    }
    let title = title_of(body.value.title.as_deref())?;
    let management = state.management_for(&caller);
    let read = find(management, &name).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&GroupBody::of(read.clone()))?;
    let group = read.group.name.clone();
    let retitled = retitle_group(management, &group, title, is_of_tag.then_some(read)).await;
    one(&GroupBody::of(retitled.map_err(|error| match error {
        RetitleGroupError::GroupUnknown => gone(&group, is_of_tag),
        RetitleGroupError::Store(error) => error.into(),
    })?))
}

pub(super) async fn delete(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, Problem> {
    let by_force = Query::of(&request, &["force"])?.is_true("force")?;
    let management = state.management_for(&caller);
    let read = find(management, &name).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&GroupBody::of(read.clone()))?;
    let group = read.group.name.clone();
    let found = delete_group(management, &group, by_force, is_of_tag.then_some(read)).await;
    let found = found.map_err(|error| match error {
        DeleteGroupError::GroupUnknown => gone(&group, is_of_tag),
        DeleteGroupError::InUse(found) => Problem::conflict(format!(
            "{group} is in use: it has {} users and {} wallets, {} clients let its members in, {} scopes need it, and \
             default_access {} it; force=true deletes it all the same",
            members_counted(found.counted.users),
            members_counted(found.counted.wallets),
            found.clients.len(),
            found.scopes.len(),
            if found.is_default { "names" } else { "does not name" },
        )),
        DeleteGroupError::Store(error) => error.into(),
    })?;
    Ok(HttpResponse::Ok().json(GroupDeletedBody {
        name: group.to_string(),
        users: found.counted.users,
        wallets: found.counted.wallets,
        clients: found.clients.iter().map(Client::wire_id).collect(),
        scopes: found.scopes.iter().map(ScopeName::to_string).collect(),
        default_access: found.is_default,
    }))
}

pub(super) async fn members(
    state: Data<AdminState>,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let name = name_in(&name)?;
    let after = query.text("after").map(member_after).transpose()?;
    let read = read_group(state.management(), &name, after, query.limit()?).await?;
    let read = read.ok_or_else(|| no_group(&name))?;
    let next = read.members.last().filter(|_| read.more).map(|last| match &last.member {
        Member::User(user) => cursor(&["user", &user.to_string(), ""]),
        Member::Wallet(WalletAccount { family, chain, address }) => cursor(&[family, chain, address]),
    });
    Ok(HttpResponse::Ok().json(MemberList {
        items: read.members.into_iter().map(MemberBody::of).collect(),
        next,
        clients: read.clients.iter().map(Client::wire_id).collect(),
        default_access: read.is_default,
    }))
}

pub(super) async fn add(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
    body: Json<Members>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let (management, name) = (state.management_for(&caller), name_in(&name)?);
    let named = named(management, body.value).await?;
    let added = add_members(management, &name, named).await.map_err(|error| match error {
        AddMembersError::GroupUnknown => no_group(&name),
        AddMembersError::UserUnknown(_) => Problem::conflict(error.to_string()).about("members"),
        AddMembersError::Store(error) => error.into(),
    })?;
    let items = added.into_iter().map(|added| MemberAddedBody {
        who: name_of(&added.who),
        user: added.user.map(|user| user.to_string()),
        added: !added.already,
    });
    Ok(HttpResponse::Ok().json(MembersAdded { items: items.collect() }))
}

pub(super) async fn remove(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
    body: Json<Members>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let (management, name) = (state.management_for(&caller), name_in(&name)?);
    let named = named(management, body.value).await?;
    let removed = remove_members(management, &name, named).await.map_err(|error| match error {
        RemoveMembersError::GroupUnknown => no_group(&name),
        RemoveMembersError::Store(error) => error.into(),
    })?;
    let items = removed.into_iter().map(|removed| MemberRemovedBody {
        who: name_of(&removed.who),
        user: removed.user.map(|user| user.to_string()),
        removed: removed.was_member,
        still_member_as: removed.still.iter().map(name_of).collect(),
    });
    Ok(HttpResponse::Ok().json(MembersRemoved { items: items.collect() }))
}

/// Finds everybody who is named, each once.
async fn named(management: Management<'_>, members: Members) -> Result<Vec<Who>, Problem> {
    if !(1..=MOST).contains(&members.members.len()) {
        return Err(Problem::invalid("members", format!("it takes 1 to {MOST} members")));
    }
    let kind = who::kind(members.kind.as_deref())?;
    let mut named: Vec<Who> = Vec::with_capacity(members.members.len());
    for (place, text) in members.members.iter().enumerate() {
        let found = who::either(management, text, kind).await;
        let found = found.map_err(|problem| problem.about(format!("members[{place}]")))?;
        if !named.contains(&found) {
            named.push(found);
        }
    }
    Ok(named)
}

fn member_after(text: &str) -> Result<Who, Problem> {
    let [family, chain, address] = from_cursor(text)?;
    if family != "user" {
        return Ok(Who::Wallet(WalletAccount { family, chain, address }));
    }
    let user = UserId::parse(&chain);
    user.map(Who::User)
        .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
}

fn title_of(text: Option<&str>) -> Result<Option<GroupTitle>, Problem> {
    let title = text.map(GroupTitle::parse).transpose();
    title.map_err(|rejected| Problem::invalid("title", format!("it {rejected}")))
}

async fn find(management: Management<'_>, name: &str) -> Result<CountedGroup, Problem> {
    let name = name_in(name)?;
    management.storage.find_group(&name).await?.ok_or_else(|| no_group(&name))
}

/// A name in a path. What cannot be one is not there.
fn name_in(text: &str) -> Result<GroupName, Problem> {
    GroupName::parse(text).map_err(|_| Problem::not_found("there is no such group").about("name"))
}

fn no_group(name: &GroupName) -> Problem {
    Problem::not_found(format!("there is no group {name}")).about("name")
}

fn gone(name: &GroupName, is_of_tag: bool) -> Problem {
    if is_of_tag { Problem::changed_meanwhile() } else { no_group(name) }
}

impl GroupBody {
    fn of(counted: CountedGroup) -> Self {
        let CountedGroup { group: Group { name, title, created_at }, users, wallets } = counted;
        Self {
            name: name.to_string(),
            title: title.as_ref().map(|title| title.as_str().to_owned()),
            created_at: iso8601(created_at),
            users,
            wallets,
        }
    }
}

impl MemberBody {
    fn of(member: GroupMember) -> Self {
        Self {
            wallet: match member.member {
                Member::User(_) => None,
                Member::Wallet(account) => Some(account.caip10()),
            },
            user: member.user.map(|user| user.to_string()),
            added_at: iso8601(member.added_at),
        }
    }
}
