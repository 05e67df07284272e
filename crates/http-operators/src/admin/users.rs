//! `/users`: who has signed in, who is kept out. Wallets are in [`wallets`].

pub(super) mod wallets;

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName, OfflineAccess};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::admission::Block;
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::group::{GroupName, Through};
use countersign_domain::id::UserId;
use countersign_domain::person_name::{MAX_PERSON_NAME_LENGTH, PersonName};
use countersign_domain::subject::Subject;
use countersign_http_actix::endpoint::steps::back_channel;
use countersign_http_actix::openapi::formats::{self, readable};
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::block::BlockedNow;
use countersign_operators::people::list_people::{ListPeopleError, list_people};
use countersign_operators::people::names::Names;
use countersign_operators::people::read_person::{PersonRead, read_person};
use countersign_ports::{BlockPut, NamePut, PeopleFilter, PersonListed};
use countersign_usecases::act_refused::ActRefused;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AdminState;
use super::admit::Caller;
use super::make::make;
use super::operations::{Cursor, Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query};
use super::schemas::{self, Schema, items, request, with};
use super::who::{self, clients_of};

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/users",
        ("listUsers", "user list"),
        (AdminArea::Users, AdminRight::Read),
        ("List users", "In the order of their ids."),
        || web::get().to(list),
    )
    .asks(&[Parameter::Group, Parameter::Blocked, Parameter::Limit, Parameter::After(Cursor::Id)])
    .answers(200, USER_LIST),
    operation(
        "GET",
        "/users/{who}",
        ("showUser", "user show"),
        (AdminArea::Users, AdminRight::Read),
        ("Show a user", "Wallets, groups, block, sessions, and what applications were allowed."),
        || web::get().to(show),
    )
    .asks(&[Parameter::Kind])
    .answers(200, USER)
    .conflicts(),
    act(
        ActName::DeleteUser,
        ("Delete a user", "With everything that is theirs. The wallets of a blocked user are blocked."),
        || web::delete().to(delete),
    )
    .asks(&[Parameter::Kind])
    .answers(200, USER_DELETED)
    .conflicts(),
    act(
        ActName::BlockUser,
        ("Keep a user out", "With every wallet of theirs. All sessions and tokens end, at every replica."),
        || web::put().to(block_user),
    )
    .asks(&[Parameter::Kind])
    .takes(BLOCK_REQUEST)
    .answers(200, BLOCKED_NOW)
    .conflicts(),
    act(ActName::UnblockUser, ("Let a user in again", "What the block ended stays ended."), || {
        web::delete().to(unblock_user)
    })
    .asks(&[Parameter::Kind])
    .answers(200, UNBLOCKED)
    .conflicts(),
    act(
        ActName::NameUser,
        ("Name a user", "For operators only: no application receives it, and it goes with the account."),
        || web::put().to(name_user),
    )
    .asks(&[Parameter::Kind])
    .takes(NAME_REQUEST)
    .answers(200, NAMED_NOW)
    .conflicts(),
    act(
        ActName::SignOut,
        (
            "Sign a user out",
            "All sessions and all tokens end, also those with `offline_access` unless they are kept.",
        ),
        || web::post().to(sign_out),
    )
    .asks(&[Parameter::Kind, Parameter::KeepOffline])
    .answers(200, SIGNED_OUT)
    .conflicts(),
];

const BLOCK_REQUEST: Schema = Schema::body::<BlockRequest>(
    "BlockRequest",
    || request::<BlockRequest>(&[], &[("reason", json!({"maxLength": 200, "pattern": readable()}))]),
    || json!({"reason": "lost phone"}),
);

const NAME_REQUEST: Schema = Schema::body::<NameRequest>(
    "NameRequest",
    || {
        let rules = json!({"minLength": 1, "maxLength": MAX_PERSON_NAME_LENGTH, "pattern": readable()});
        let mut schema = request::<NameRequest>(&[], &[("name", rules)]);
        schema["required"] = json!(["name"]);
        schema
    },
    || json!({"name": "Ann Lee"}),
);

const NAMED_NOW: Schema = Schema::of::<NamedNowBody>("NamedNow");

const BLOCKED_NOW: Schema = Schema::of::<BlockedNowBody>("BlockedNow");

const UNBLOCKED: Schema = Schema::of::<UnblockedBody>("Unblocked");

const SIGNED_OUT: Schema =
    Schema::answer("SignedOut", || schemas::answer::<SignedOutBody>(&[("id", formats::id())]));

const USER_DELETED: Schema =
    Schema::answer("UserDeleted", || schemas::answer::<UserDeletedBody>(&[("id", formats::id())]));

const USER: Schema = Schema::answer("User", || {
    let mut user = with(schemas::answer::<UserBody>(&[("id", formats::id())]), &[("blocked", block())]);
    for (field, schema) in [
        ("blocked_wallets", schemas::answer::<BlockedWalletBody>(&[])),
        ("groups", schemas::answer::<MembershipBody>(&[])),
        ("sessions", schemas::answer::<SessionBody>(&[])),
        ("grants", schemas::answer::<GrantBody>(&[])),
    ] {
        user = items(user, field, schema);
    }
    user
});

const USER_LIST: Schema = Schema::answer("UserList", || {
    let listed = with(schemas::answer::<UserListed>(&[("id", formats::id())]), &[("blocked", block())]);
    schemas::page::<UserList>(Cursor::Id.schema(), listed)
});

fn block() -> Value {
    schemas::answer::<BlockBody>(&[("at", json!({"format": "date-time"}))])
}

/// Why a user or wallet is blocked.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct BlockRequest {
    /// The reason, for operators only: up to 200 characters.
    reason: Option<String>,
}

/// What operators call a user or a wallet.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct NameRequest {
    /// The name, up to 64 characters; null takes it away.
    name: Option<String>,
}

/// A user or wallet has this name now.
#[derive(Serialize, Apiv2Schema)]
struct NamedNowBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// The name, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Was it another one before?
    changed: bool,
}

/// A block.
#[derive(Serialize, Apiv2Schema)]
struct BlockBody {
    /// Since when.
    at: String,
    /// Why, for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A user in a list.
#[derive(Serialize, Apiv2Schema)]
struct UserListed {
    /// The user's id.
    id: String,
    /// What operators call the user, if they have a name. Without a name of their own, it is that of a wallet.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When the user was created.
    created_at: String,
    /// When the user last signed in somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sign_in_at: Option<String>,
    /// The wallets, as CAIP-10.
    wallets: Vec<String>,
    /// The block of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockBody>,
}

/// A page of users, in the order of their ids.
#[derive(Serialize, Apiv2Schema)]
struct UserList {
    /// The users.
    items: Vec<UserListed>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A user.
#[derive(Serialize, Apiv2Schema)]
struct UserBody {
    /// The user's id.
    id: String,
    /// What operators call the user, if they have a name. Without a name of their own, it is that of a wallet.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When the user was created.
    created_at: String,
    /// When the user last signed in somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sign_in_at: Option<String>,
    /// The wallets, as CAIP-10.
    wallets: Vec<String>,
    /// The block of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockBody>,
    /// The wallets that are blocked by themselves.
    blocked_wallets: Vec<BlockedWalletBody>,
    /// The groups.
    groups: Vec<MembershipBody>,
    /// The browsers that remember a sign-in.
    sessions: Vec<SessionBody>,
    /// What the user agreed to.
    grants: Vec<GrantBody>,
}

/// A blocked wallet of a user.
#[derive(Serialize, Apiv2Schema)]
struct BlockedWalletBody {
    /// The wallet, as CAIP-10.
    wallet: String,
    /// Since when.
    at: String,
    /// Why, for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A way in which a user is in a group.
#[derive(Serialize, Apiv2Schema)]
struct MembershipBody {
    /// The group.
    name: String,
    /// `user`, or the wallet that brings it.
    through: String,
}

/// A browser that remembers a sign-in.
#[derive(Serialize, Apiv2Schema)]
struct SessionBody {
    /// The session's id.
    id: String,
    /// What kind of browser it is.
    browser: String,
    /// The wallet that signed, as CAIP-10.
    wallet: String,
    /// When it signed.
    signed_in_at: String,
    /// When the session was last used.
    last_used_at: String,
    /// When it ends.
    expires_at: String,
}

/// What a user agreed to at a client.
#[derive(Serialize, Apiv2Schema)]
struct GrantBody {
    /// The client.
    client: String,
    /// The scopes.
    scopes: Vec<String>,
    /// Since when.
    since: String,
    /// When it was last used.
    last_used_at: String,
}

/// A user or wallet is blocked now.
#[derive(Serialize, Apiv2Schema)]
struct BlockedNowBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// Was there a block already? It keeps its time.
    already: bool,
    /// How many sessions ended.
    sessions_ended: u64,
    /// How many grants ended.
    grants_ended: u64,
    /// The clients that are notified of it, in the background.
    clients_to_tell: Vec<String>,
}

/// A user or wallet is let in again.
#[derive(Serialize, Apiv2Schema)]
struct UnblockedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// Was there a block?
    was_blocked: bool,
    /// The wallets or the user whose blocks still keep them out.
    still_blocked: Vec<String>,
}

/// A user was signed out.
#[derive(Serialize, Apiv2Schema)]
struct SignedOutBody {
    /// The user's id.
    id: String,
    /// `ended`, or `kept` if `keep_offline` asked for it.
    offline_access: &'static str,
    /// How many sessions ended.
    sessions_ended: u64,
    /// How many grants ended.
    grants_ended: u64,
    /// The clients that are notified of it, in the background.
    clients_to_tell: Vec<String>,
}

/// A user was deleted.
#[derive(Serialize, Apiv2Schema)]
struct UserDeletedBody {
    /// The user's id.
    id: String,
    /// The clients that are notified of it, in the background.
    clients_to_tell: Vec<String>,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["group", "blocked", "limit", "after"])?;
    let group = query.text("group").map(|group| {
        GroupName::parse(group).map_err(|rejected| Problem::invalid("group", rejected.to_string()))
    });
    let filter = PeopleFilter { group: group.transpose()?, blocked: query.is_true("blocked")? };
    let after = query.text("after").map(|after| {
        UserId::parse(after)
            .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let page = list_people(state.management(), filter, after.transpose()?, query.limit()?).await;
    let page = page.map_err(|error| match error {
        ListPeopleError::GroupUnknown(_) => Problem::not_found(error.to_string()).about("group"),
        ListPeopleError::Store(error) => error.into(),
    })?;
    let next = page.people.last().filter(|_| page.more).map(|last| last.id.to_string());
    let who = page.people.iter().map(|person| Subject::User(person.id));
    let names = Names::of(state.management().storage, who).await?;
    let items = page.people.into_iter().map(|person| UserListed::of(person, &names)).collect();
    Ok(HttpResponse::Ok().json(UserList { items, next }))
}

async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    let user = who::user(state.management(), &who, &query).await?;
    let read = read_person(state.management(), user).await?.ok_or(ActRefused::UserUnknown(user))?;
    let names = Names::of(state.management().storage, [Subject::User(user)]).await?;
    Ok(HttpResponse::Ok().json(UserBody::of(read, &names)))
}

async fn block_user(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
    body: Json<BlockRequest>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let user = who::user(state.management_for(&caller), &who, &query).await?;
    keep_out(&state, &caller, Subject::User(user), body.value).await
}

async fn unblock_user(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let user = who::user(state.management_for(&caller), &who, &query).await?;
    let_in(&state, &caller, Subject::User(user)).await
}

async fn name_user(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
    body: Json<NameRequest>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let user = who::user(state.management_for(&caller), &who, &query).await?;
    call(&state, &caller, Subject::User(user), body).await
}

async fn sign_out(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind", "keep_offline"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let offline = OfflineAccess::kept_if(query.is_true("keep_offline")?);
    let user = who::user(state.management_for(&caller), &who, &query).await?;
    let act = Act::SignOut { user: user.into(), offline: Some(offline) };
    answer(&state, make(&state, Operating::new(state.management_for(&caller)), act, false).await?)
}

async fn delete(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let user = who::user(state.management_for(&caller), &who, &query).await?;
    let act = Act::DeleteUser { user: user.into() };
    answer(&state, make(&state, Operating::new(state.management_for(&caller)), act, false).await?)
}

async fn keep_out(
    state: &AdminState,
    caller: &Caller,
    who: Subject,
    asked: BlockRequest,
) -> Result<HttpResponse, Problem> {
    let reason = asked.reason.map(|reason| {
        Block::judge_reason(&reason).map_err(|rejected| Problem::invalid("reason", rejected.to_string()))
    });
    let act = Act::Block { who: who.into(), reason: reason.transpose()? };
    answer(state, make(state, Operating::new(state.management_for(caller)), act, false).await?)
}

async fn call(
    state: &AdminState,
    caller: &Caller,
    who: Subject,
    body: Json<NameRequest>,
) -> Result<HttpResponse, Problem> {
    if !body.fields.contains_key("name") {
        return Err(Problem::invalid("name", "it is missing; null takes the name away"));
    }
    let name = body.value.name.as_deref().map(PersonName::parse).transpose();
    let name = name.map_err(|rejected| Problem::invalid("name", rejected.to_string()))?;
    let act = Act::Name { who: who.into(), name };
    answer(state, make(state, Operating::new(state.management_for(caller)), act, false).await?)
}

async fn let_in(state: &AdminState, caller: &Caller, who: Subject) -> Result<HttpResponse, Problem> {
    let act = Act::Unblock { who: who.into() };
    answer(state, make(state, Operating::new(state.management_for(caller)), act, false).await?)
}

/// Answers with what an act on a user or a wallet did, and notifies clients.
fn answer(state: &AdminState, effect: Effect) -> Result<HttpResponse, Problem> {
    let mut answer = Err(Problem::nothing_here());
    if let Effect::Blocked(who, BlockedNow { put, ended }) = &effect {
        answer = Ok(HttpResponse::Ok().json(BlockedNowBody {
            who: who.to_string(),
            already: *put != BlockPut::Stored,
            sessions_ended: ended.sessions,
            grants_ended: ended.grants,
            clients_to_tell: clients_of(&ended.notices),
        }));
    }
    if let Effect::Unblocked(who, unblocked) = &effect {
        answer = Ok(HttpResponse::Ok().json(UnblockedBody {
            who: who.to_string(),
            was_blocked: unblocked.was_blocked,
            still_blocked: unblocked.still.iter().map(ToString::to_string).collect(),
        }));
    }
    if let Effect::Named(who, name, put) = &effect {
        answer = Ok(HttpResponse::Ok().json(NamedNowBody {
            who: who.to_string(),
            name: name.as_ref().map(ToString::to_string),
            changed: *put == NamePut::Stored,
        }));
    }
    if let Effect::SignedOut(user, offline, ended) = &effect {
        answer = Ok(HttpResponse::Ok().json(SignedOutBody {
            id: user.to_string(),
            offline_access: offline.name(),
            sessions_ended: ended.sessions,
            grants_ended: ended.grants,
            clients_to_tell: clients_of(&ended.notices),
        }));
    }
    if let Effect::UserDeleted(user, notices) = &effect {
        let (id, clients_to_tell) = (user.to_string(), clients_of(notices));
        answer = Ok(HttpResponse::Ok().json(UserDeletedBody { id, clients_to_tell }));
    }
    if let Some(notices) = effect.into_notices() {
        back_channel::tell(&state.app, notices);
    }
    answer
}

impl BlockBody {
    fn of(block: Block) -> Self {
        Self { at: iso8601(block.at), reason: block.reason }
    }
}

impl UserListed {
    fn of(listed: PersonListed, names: &Names) -> Self {
        Self {
            id: listed.id.to_string(),
            name: names.text(&Subject::User(listed.id)).map(str::to_owned),
            created_at: iso8601(listed.created_at),
            last_sign_in_at: listed.last_sign_in_at.map(iso8601),
            wallets: listed.wallets.iter().map(|wallet| wallet.account.caip10()).collect(),
            blocked: listed.block.map(BlockBody::of),
        }
    }
}

impl UserBody {
    fn of(read: PersonRead, names: &Names) -> Self {
        let PersonRead { person, clients } = read;
        let listed = UserListed::of(person.listed, names);
        let blocked_wallets = person.blocked_wallets.into_iter().map(|blocked| BlockedWalletBody {
            wallet: blocked.account.caip10(),
            at: iso8601(blocked.block.at),
            reason: blocked.block.reason,
        });
        let groups = person.memberships.into_iter().map(|membership| MembershipBody {
            name: membership.group.to_string(),
            through: match membership.through {
                Through::User => "user".to_owned(),
                Through::Wallet(account) => account.caip10(),
            },
        });
        let sessions = person.sessions.into_iter().map(|session| SessionBody {
            id: session.id.to_string(),
            browser: session.browser.to_string(),
            wallet: session.account.caip10(),
            signed_in_at: iso8601(session.authenticated_at),
            last_used_at: iso8601(session.last_used_at),
            expires_at: iso8601(session.expires_at),
        });
        let grants = person.consents.into_iter().map(|consent| GrantBody {
            client: clients.get(&consent.client).map_or_else(|| consent.client.to_string(), Client::wire_id),
            scopes: consent.scope.names().map(str::to_owned).collect(),
            since: iso8601(consent.granted_at),
            last_used_at: iso8601(consent.last_used_at),
        });
        Self {
            blocked_wallets: blocked_wallets.collect(),
            groups: groups.collect(),
            sessions: sessions.collect(),
            grants: grants.collect(),
            id: listed.id,
            name: listed.name,
            created_at: listed.created_at,
            last_sign_in_at: listed.last_sign_in_at,
            wallets: listed.wallets,
            blocked: listed.blocked,
        }
    }
}
