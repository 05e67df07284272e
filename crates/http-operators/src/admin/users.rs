//! `/users` and `/wallets`: who has signed in, who is kept out.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, OfflineAccess};
use countersign_domain::admission::Block;
use countersign_domain::challenge::iso8601;
use countersign_domain::client::Client;
use countersign_domain::group::{GroupName, Through};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_http_actix::endpoint::steps::back_channel;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::block::BlockedNow;
use countersign_operators::people::list_people::{ListPeopleError, list_people};
use countersign_operators::people::list_wallets::{
    ListWalletsError, WalletListed, list_blocked_wallets, list_wallets,
};
use countersign_operators::people::read_person::{PersonRead, read_person};
use countersign_ports::{BlockPut, PeopleFilter, PersonListed};
use countersign_usecases::act_refused::ActRefused;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use super::AdminState;
use super::admit::Caller;
use super::make::make;
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, cursor, from_cursor};
use super::who::{self, clients_of};

/// Why a user or wallet is blocked.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockRequest {
    /// The reason, for operators only: up to 200 characters.
    reason: Option<String>,
}

/// A block.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct BlockBody {
    /// Since when.
    at: String,
    /// Why, for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A user in a list.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct UserListed {
    /// The user's id.
    id: String,
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
pub(crate) struct UserList {
    /// The users.
    items: Vec<UserListed>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A user.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct UserBody {
    /// The user's id.
    id: String,
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
pub(crate) struct BlockedWalletBody {
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
pub(crate) struct MembershipBody {
    /// The group.
    name: String,
    /// `user`, or the wallet that brings it.
    through: String,
}

/// A browser that remembers a sign-in.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SessionBody {
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
pub(crate) struct GrantBody {
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
pub(crate) struct BlockedNowBody {
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
pub(crate) struct UnblockedBody {
    /// The user's id, or the wallet as CAIP-10.
    who: String,
    /// Was there a block?
    was_blocked: bool,
    /// The wallets or the user whose blocks still keep them out.
    still_blocked: Vec<String>,
}

/// A user was signed out.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SignedOutBody {
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
pub(crate) struct UserDeletedBody {
    /// The user's id.
    id: String,
    /// The clients that are notified of it, in the background.
    clients_to_tell: Vec<String>,
}

/// A wallet in a list.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletBody {
    /// The wallet, as CAIP-10.
    wallet: String,
    /// The user it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The block that keeps it out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockBody>,
}

/// A page of wallets.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletList {
    /// The wallets.
    items: Vec<WalletBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
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
    let items = page.people.into_iter().map(UserListed::of).collect();
    Ok(HttpResponse::Ok().json(UserList { items, next }))
}

pub(super) async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    let user = who::user(state.management(), &who, &query).await?;
    let read = read_person(state.management(), user).await?.ok_or(ActRefused::UserUnknown(user))?;
    Ok(HttpResponse::Ok().json(UserBody::of(read)))
}

pub(super) async fn block_user(
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

pub(super) async fn unblock_user(
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

pub(super) async fn sign_out(
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

pub(super) async fn delete(
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

pub(super) async fn wallets(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["blocked", "limit", "after"])?;
    let after = query.text("after").map(from_cursor::<3>).transpose()?;
    let after = after.map(|[family, chain, address]| WalletAccount { family, chain, address });
    let limit = query.limit()?;
    let page = if query.is_true("blocked")? {
        list_blocked_wallets(state.management(), after.as_ref(), limit).await?
    } else {
        list_wallets(state.management(), after.as_ref(), limit).await.map_err(|error| match error {
            ListWalletsError::AfterUnknown => Problem::conflict(error.to_string()).about("after"),
            ListWalletsError::Store(error) => error.into(),
        })?
    };
    let next = page.wallets.last().filter(|_| page.more).map(|last| {
        let WalletAccount { family, chain, address } = &last.account;
        cursor(&[family, chain, address])
    });
    let items = page.wallets.into_iter().map(WalletBody::of).collect();
    Ok(HttpResponse::Ok().json(WalletList { items, next }))
}

pub(super) async fn block_wallet(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
    body: Json<BlockRequest>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let account = who::wallet(state.management_for(&caller), &who, &query).await?;
    keep_out(&state, &caller, Subject::Wallet(account), body.value).await
}

pub(super) async fn unblock_wallet(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let account = who::wallet(state.management_for(&caller), &who, &query).await?;
    let_in(&state, &caller, Subject::Wallet(account)).await
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
    fn of(listed: PersonListed) -> Self {
        Self {
            id: listed.id.to_string(),
            created_at: iso8601(listed.created_at),
            last_sign_in_at: listed.last_sign_in_at.map(iso8601),
            wallets: listed.wallets.iter().map(|wallet| wallet.account.caip10()).collect(),
            blocked: listed.block.map(BlockBody::of),
        }
    }
}

impl UserBody {
    fn of(read: PersonRead) -> Self {
        let PersonRead { person, clients } = read;
        let listed = UserListed::of(person.listed);
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
            created_at: listed.created_at,
            last_sign_in_at: listed.last_sign_in_at,
            wallets: listed.wallets,
            blocked: listed.blocked,
        }
    }
}

impl WalletBody {
    fn of(listed: WalletListed) -> Self {
        Self {
            wallet: listed.account.caip10(),
            user: listed.user.map(|user| user.to_string()),
            blocked: listed.block.map(BlockBody::of),
        }
    }
}
