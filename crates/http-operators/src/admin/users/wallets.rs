//! `/wallets`: wallets, and which are kept out.

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::ActName;
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_operators::people::list_wallets::{
    ListWalletsError, WalletListed, list_blocked_wallets, list_wallets,
};
use countersign_operators::people::names::Names;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use super::{
    BLOCK_REQUEST, BLOCKED_NOW, BlockBody, BlockRequest, NAME_REQUEST, NAMED_NOW, NameRequest, UNBLOCKED,
    block, call, keep_out, let_in,
};
use crate::admin::AdminState;
use crate::admin::admit::Caller;
use crate::admin::operations::{Cursor, Operation, Parameter, act, operation};
use crate::admin::problem::Problem;
use crate::admin::read::{IfMatch, Json, Query, cursor, from_cursor};
use crate::admin::schemas::{self, Schema, with};
use crate::admin::who;

pub(in crate::admin) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/wallets",
        ("listWallets", "wallet list"),
        (AdminArea::Users, AdminRight::Read),
        ("List wallets", "Those of users, by user; or those that are blocked by themselves."),
        || web::get().to(wallets),
    )
    .asks(&[Parameter::Blocked, Parameter::Limit, Parameter::After(Cursor::Row)])
    .answers(200, WALLET_LIST)
    .conflicts(),
    act(ActName::BlockWallet, ("Keep a wallet out", "Whether anybody has signed in with it or not."), || {
        web::put().to(block_wallet)
    })
    .asks(&[Parameter::Kind])
    .takes(BLOCK_REQUEST)
    .answers(200, BLOCKED_NOW)
    .conflicts(),
    act(ActName::UnblockWallet, ("Let a wallet in again", "What the block ended stays ended."), || {
        web::delete().to(unblock_wallet)
    })
    .asks(&[Parameter::Kind])
    .answers(200, UNBLOCKED)
    .conflicts(),
    act(
        ActName::NameWallet,
        ("Name a wallet", "Whether anybody has signed in with it or not. For operators only."),
        || web::put().to(name_wallet),
    )
    .asks(&[Parameter::Kind])
    .takes(NAME_REQUEST)
    .answers(200, NAMED_NOW)
    .conflicts(),
];

const WALLET_LIST: Schema = Schema::answer("WalletList", || {
    let wallet = with(schemas::answer::<WalletBody>(&[]), &[("blocked", block())]);
    schemas::page::<WalletList>(Cursor::Row.schema(), wallet)
});

/// A wallet in a list.
#[derive(Serialize, Apiv2Schema)]
struct WalletBody {
    /// The wallet, as CAIP-10.
    wallet: String,
    /// What operators call the wallet, if it has a name. Without a name of its own, it is that of its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The user it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The block that keeps it out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockBody>,
}

/// A page of wallets.
#[derive(Serialize, Apiv2Schema)]
struct WalletList {
    /// The wallets.
    items: Vec<WalletBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn wallets(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
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
    let who = page.wallets.iter().map(|wallet| Subject::Wallet(wallet.account.clone()));
    let names = Names::of(state.management().storage, who).await?;
    let items = page.wallets.into_iter().map(|wallet| WalletBody::of(wallet, &names)).collect();
    Ok(HttpResponse::Ok().json(WalletList { items, next }))
}

async fn block_wallet(
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

async fn unblock_wallet(
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

async fn name_wallet(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    who: Path<String>,
    body: Json<NameRequest>,
) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["kind"])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let account = who::wallet(state.management_for(&caller), &who, &query).await?;
    call(&state, &caller, Subject::Wallet(account), body).await
}

impl WalletBody {
    fn of(listed: WalletListed, names: &Names) -> Self {
        Self {
            wallet: listed.account.caip10(),
            name: names.text(&Subject::Wallet(listed.account)).map(str::to_owned),
            user: listed.user.map(|user| user.to_string()),
            blocked: listed.block.map(BlockBody::of),
        }
    }
}
