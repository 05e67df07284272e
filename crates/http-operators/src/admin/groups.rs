//! `/groups`: groups, and who is in them.

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName, NamedSubject, UsedBy};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::scope::ScopeName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::openapi::formats;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::list_groups::list_groups_after;
use countersign_operators::people::names::Names;
use countersign_operators::people::read_group::read_group;
use countersign_ports::{CountedGroup, GroupMember};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::AdminState;
use super::admit::Caller;
use super::make::{effect_of, make};
use super::operations::{Cursor, Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, creating, cursor, from_cursor, one};
use super::schemas::{self, Schema, request, title};
use super::who;

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/groups",
        ("listGroups", "group list"),
        (AdminArea::Groups, AdminRight::Read),
        ("List groups", "In the order of their names."),
        || web::get().to(list),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Group)])
    .answers(200, GROUP_LIST),
    act(
        ActName::CreateGroup,
        ("Create a group", "The clients that it is released to see its name; only operators see its title."),
        || web::post().to(create),
    )
    .takes(NEW_GROUP)
    .answers(201, GROUP)
    .repeatable(),
    operation(
        "GET",
        "/groups/{name}",
        ("showGroup", "group show"),
        (AdminArea::Groups, AdminRight::Read),
        ("Show a group", "With the number of its members."),
        || web::get().to(show),
    )
    .answers(200, GROUP)
    .tagged(),
    act(ActName::RetitleGroup, ("Change the title of a group", "The name stays: clients know it."), || {
        web::patch().to(update)
    })
    .takes(GROUP_UPDATE)
    .answers(200, GROUP)
    .tagged()
    .guarded(),
    act(
        ActName::DeleteGroup,
        ("Delete a group", "One that has members, or that rules or scopes name, only with `force=true`."),
        || web::delete().to(delete),
    )
    .asks(&[Parameter::Force])
    .answers(200, Schema::of::<GroupDeletedBody>("GroupDeleted"))
    .guarded()
    .conflicts(),
    operation(
        "GET",
        "/groups/{name}/members",
        ("listMembers", "group show"),
        (AdminArea::Groups, AdminRight::Read),
        ("List the members of a group", "Users before wallets; and the clients that let them in."),
        || web::get().to(members),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Row)])
    .answers(200, MEMBER_LIST),
    act(
        ActName::AddMembers,
        ("Put users and wallets into a group", "If one of the users is not there, no one is added."),
        || web::post().to(add),
    )
    .takes(MEMBERS)
    .answers(
        200,
        Schema::answer("MembersAdded", || {
            schemas::list::<MembersAdded>(schemas::answer::<MemberAddedBody>(&[]))
        }),
    )
    .conflicts(),
    act(
        ActName::RemoveMembers,
        (
            "Take users and wallets out of a group",
            "As they were put in: users by their ids, wallets by their addresses.",
        ),
        || web::post().to(remove),
    )
    .takes(MEMBERS)
    .answers(
        200,
        Schema::answer("MembersRemoved", || {
            schemas::list::<MembersRemoved>(schemas::answer::<MemberRemovedBody>(&[]))
        }),
    )
    .conflicts(),
];

const NEW_GROUP: Schema = Schema::body::<NewGroup>(
    "NewGroup",
    || request::<NewGroup>(&["name"], &[("name", json!({"pattern": formats::GROUP})), ("title", title())]),
    || json!({"name": "staff", "title": "Everyone who works here", "members": ["eip155:1:0x00000000219ab540356cbb839cbe05303d7705fa"]}),
);

const GROUP_UPDATE: Schema = Schema::body::<GroupUpdate>(
    "GroupUpdate",
    || {
        let mut schema = request::<GroupUpdate>(&[], &[("title", title())]);
        schema["required"] = json!(["title"]);
        schema
    },
    || json!({"title": "Everyone"}),
);

const GROUP: Schema = Schema::of::<GroupBody>("Group");

const GROUP_LIST: Schema = Schema::answer("GroupList", || {
    schemas::page::<GroupList>(Cursor::Group.schema(), schemas::answer::<GroupBody>(&[]))
});

const MEMBER_LIST: Schema = Schema::answer("MemberList", || {
    schemas::page::<MemberList>(Cursor::Row.schema(), schemas::answer::<MemberBody>(&[]))
});

const MEMBERS: Schema = Schema::body::<Members>(
    "Members",
    || {
        request::<Members>(
            &["members"],
            &[
                ("members", json!({"minItems": 1, "maxItems": 1000, "items": formats::who()})),
                ("kind", json!({"enum": ["key", "contract", null]})),
            ],
        )
    },
    || json!({"members": ["0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"]}),
);

/// A new group.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct NewGroup {
    /// Its name, which clients see: up to 64 of `a-z 0-9 _ . : -`, first a letter.
    name: String,
    /// What operators call it.
    title: Option<String>,
    /// Its members: ids of users, addresses of wallets, or wallets with their chain (CAIP-10), up to 1000.
    #[serde(default)]
    members: Vec<String>,
    /// What an EVM address among the members is: `key` or `contract`. Only needed if it could be either.
    kind: Option<String>,
}

/// A change of a group.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct GroupUpdate {
    /// What operators call it; null takes the title away.
    title: Option<String>,
}

/// A group.
#[derive(Serialize, Apiv2Schema)]
struct GroupBody {
    /// Its name.
    name: String,
    /// What operators call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// When it was created.
    created_at: String,
    /// How many users were put into it. 1001 means more than 1000.
    users: u64,
    /// How many wallets were put into it. 1001 means more than 1000.
    wallets: u64,
}

/// A page of groups, in the order of their names.
#[derive(Serialize, Apiv2Schema)]
struct GroupList {
    /// The groups.
    items: Vec<GroupBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// What a group was good for that was deleted.
#[derive(Serialize, Apiv2Schema)]
struct GroupDeletedBody {
    /// Its name.
    name: String,
    /// How many users were in it. 1001 means more than 1000.
    users: u64,
    /// How many wallets were in it. 1001 means more than 1000.
    wallets: u64,
    /// The clients whose rules name it.
    clients: Vec<String>,
    /// The scopes of resources that need it.
    scopes: Vec<String>,
    /// Does the setting `default_access` name it?
    default_access: bool,
}

/// Some members of a group, and where it lets them in.
#[derive(Serialize, Apiv2Schema)]
struct MemberList {
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
struct MemberBody {
    /// The wallet, as CAIP-10. Only if a wallet is the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet: Option<String>,
    /// What operators call the member, if it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The user; for a wallet, the one it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Since when.
    added_at: String,
}

/// Users and wallets.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct Members {
    /// Ids of users, addresses of wallets, or wallets with their chain (CAIP-10): 1 to 1000.
    members: Vec<String>,
    /// What an EVM address is: `key` or `contract`. Only needed if it could be either.
    kind: Option<String>,
}

/// What became of those who were to be members.
#[derive(Serialize, Apiv2Schema)]
struct MembersAdded {
    /// One for each, in their order.
    items: Vec<MemberAddedBody>,
}

/// The outcome for one new member.
#[derive(Serialize, Apiv2Schema)]
struct MemberAddedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// The user a wallet belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Is it a new member?
    added: bool,
}

/// What became of those who were to leave.
#[derive(Serialize, Apiv2Schema)]
struct MembersRemoved {
    /// One for each, in their order.
    items: Vec<MemberRemovedBody>,
}

/// The outcome for one member to remove.
#[derive(Serialize, Apiv2Schema)]
struct MemberRemovedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// The user a wallet belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Was it a member?
    removed: bool,
    /// How this user is still in the group.
    still_member_as: Vec<String>,
}

/// The most members of one request.
const MOST: usize = 1_000;

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
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

async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<NewGroup>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let name = GroupName::parse(&body.value.name)
        .map_err(|rejected| Problem::invalid("name", rejected.to_string()))?;
    let title = title_of(body.value.title.as_deref())?;
    let members = named(state.management(), &body.value.members, body.value.kind.as_deref()).await?;
    let act = Act::CreateGroup { group: name, title, members };
    let created = creating(&state, &caller, &request, &body, async |management| {
        effect_of(&state, Operating::new(management), act.clone()).await
    });
    answer(created.await?)
}

async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    name: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    one(&GroupBody::of(find(state.management(), &name).await?))
}

async fn update(
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
    let operating = Operating { group_read: is_of_tag.then_some(read), ..Operating::new(management) };
    answer(make(&state, operating, Act::RetitleGroup { group, title }, is_of_tag).await?)
}

async fn delete(
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
    let operating = Operating { group_read: is_of_tag.then_some(read), ..Operating::new(management) };
    let act = Act::DeleteGroup { group, used_by: UsedBy::default(), needed_by: Vec::new() };
    answer(make(&state, operating.insisting(by_force), act, is_of_tag).await?)
}

async fn members(
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
        Subject::User(user) => cursor(&["user", &user.to_string(), ""]),
        Subject::Wallet(WalletAccount { family, chain, address }) => cursor(&[family, chain, address]),
    });
    let who = read.members.iter().map(|member| member.member.clone());
    let names = Names::of(state.management().storage, who).await?;
    Ok(HttpResponse::Ok().json(MemberList {
        items: read.members.into_iter().map(|member| MemberBody::of(member, &names)).collect(),
        next,
        clients: read.clients.iter().map(Client::wire_id).collect(),
        default_access: read.is_default,
    }))
}

async fn add(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
    body: Json<Members>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let (management, name) = (state.management_for(&caller), name_in(&name)?);
    let members = some_named(management, body.value).await?;
    answer(make(&state, Operating::new(management), Act::AddMembers { group: name, members }, false).await?)
}

async fn remove(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    name: Path<String>,
    body: Json<Members>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let (management, name) = (state.management_for(&caller), name_in(&name)?);
    let members = some_named(management, body.value).await?;
    answer(
        make(&state, Operating::new(management), Act::RemoveMembers { group: name, members }, false).await?,
    )
}

/// Answers with what an act on a group did.
fn answer(effect: Effect) -> Result<HttpResponse, Problem> {
    if let Effect::GroupCreated(counted) = effect {
        return Ok(HttpResponse::Created().json(GroupBody::of(counted)));
    }
    if let Effect::GroupRetitled(counted) = effect {
        return one(&GroupBody::of(counted));
    }
    if let Effect::GroupDeleted(found) = effect {
        return Ok(HttpResponse::Ok().json(GroupDeletedBody {
            name: found.counted.group.name.to_string(),
            users: found.counted.users,
            wallets: found.counted.wallets,
            clients: found.clients.iter().map(Client::wire_id).collect(),
            scopes: found.scopes.iter().map(ScopeName::to_string).collect(),
            default_access: found.is_default,
        }));
    }
    if let Effect::Added(_, added) = effect {
        let items = added.into_iter().map(|added| MemberAddedBody {
            who: added.who.to_string(),
            user: added.user.map(|user| user.to_string()),
            added: !added.already,
        });
        return Ok(HttpResponse::Ok().json(MembersAdded { items: items.collect() }));
    }
    if let Effect::Removed(_, removed) = effect {
        let items = removed.into_iter().map(|removed| MemberRemovedBody {
            who: removed.who.to_string(),
            user: removed.user.map(|user| user.to_string()),
            removed: removed.was_member,
            still_member_as: removed.still.iter().map(ToString::to_string).collect(),
        });
        return Ok(HttpResponse::Ok().json(MembersRemoved { items: items.collect() }));
    }
    Err(Problem::nothing_here())
}

/// Finds everyone who is named, who must be someone.
async fn some_named(management: Management<'_>, members: Members) -> Result<Vec<NamedSubject>, Problem> {
    if members.members.is_empty() {
        return Err(wrong_number());
    }
    named(management, &members.members, members.kind.as_deref()).await
}

/// Finds everyone who is named, each once.
async fn named(
    management: Management<'_>,
    members: &[String],
    kind: Option<&str>,
) -> Result<Vec<NamedSubject>, Problem> {
    if members.len() > MOST {
        return Err(wrong_number());
    }
    let kind = who::kind(kind)?;
    let mut named: Vec<Subject> = Vec::with_capacity(members.len());
    for (place, text) in members.iter().enumerate() {
        let found = who::either(management, text, kind).await;
        let found = found.map_err(|problem| problem.about(format!("members[{place}]")))?;
        if !named.contains(&found) {
            named.push(found);
        }
    }
    Ok(named.into_iter().map(NamedSubject::from).collect())
}

fn wrong_number() -> Problem {
    Problem::invalid("members", format!("it takes 1 to {MOST} members"))
}

fn member_after(text: &str) -> Result<Subject, Problem> {
    let [family, chain, address] = from_cursor(text)?;
    if family != "user" {
        return Ok(Subject::Wallet(WalletAccount { family, chain, address }));
    }
    let user = UserId::parse(&chain);
    user.map(Subject::User)
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
    ActRefused::GroupUnknown(name.clone()).into()
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
    fn of(member: GroupMember, names: &Names) -> Self {
        Self {
            name: names.text(&member.member).map(str::to_owned),
            wallet: match member.member {
                Subject::User(_) => None,
                Subject::Wallet(account) => Some(account.caip10()),
            },
            user: member.user.map(|user| user.to_string()),
            added_at: iso8601(member.added_at),
        }
    }
}
