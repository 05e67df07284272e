//! `/admin/wallets`: wallets, those that signed in and those that are blocked.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::ActName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::people::find_who::{FindWhoError, find_who};
use countersign_operators::people::list_wallets::{ListWalletsError, list_blocked_wallets, list_wallets};
use countersign_operators::people::look_up_client::{LookUpClientError, look_up_client};
use countersign_operators::people::suspend::suspension_of;
use serde::Serialize;
use url::form_urlencoded::Serializer;

use super::admit::Visit;
use super::forms::Form;
use super::names::{NameOf, UserView, known};
use super::query::{Pager, Query, cursor, from_cursor, segment, wrong_row};
use super::sent::Sent;
use super::show::{About, Here, Notice};
use super::tried::TriedView;
use super::view::{BlockView, WalletView, unavailable};

#[derive(Serialize)]
struct Wallets {
    wallets: Vec<WalletRow>,
    filter: Filter,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct Filter {
    blocked: bool,
}

#[derive(Serialize)]
struct WalletRow {
    #[serde(flatten)]
    wallet: WalletView,
    user: Option<UserView>,
    block: Option<BlockView>,
}

#[derive(Serialize)]
struct WalletPage {
    wallet: WalletView,
    /// Its events, below `/admin`.
    events_path: String,
    /// The refused requests that named it, below `/admin`.
    refusals_path: String,
    user: Option<UserView>,
    block: Option<BlockView>,
    /// The suspension, if its person is suspended as an operator.
    suspension: Option<BlockView>,
    groups: Vec<String>,
    /// The client at which it was asked whether the wallet would get in.
    client: Option<String>,
    tried: Vec<TriedView>,
    forms: Vec<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["blocked", "limit", "after"]);
    let after = query.after().map(account_of).transpose()?;
    let (management, limit) = (visit.management(), query.limit()?);
    let filter = Filter { blocked: query.is_true("blocked") };
    let listed = if filter.blocked {
        list_blocked_wallets(management, after.as_ref(), limit).await.map_err(unavailable)?
    } else {
        list_wallets(management, after.as_ref(), limit).await.map_err(|error| match error {
            ListWalletsError::AfterUnknown => wrong_row(),
            ListWalletsError::Store(error) => unavailable(error),
        })?
    };
    let next = listed.wallets.last().filter(|_| listed.more).map(|last| {
        let WalletAccount { family, chain, address } = &last.account;
        cursor(&[family, chain, address])
    });
    let rows = listed.wallets.iter().map(|listed| WalletRow {
        wallet: WalletView::of(&*visit.state.context.wallets, &listed.account),
        user: listed.user.map(UserView::of),
        block: listed.block.as_ref().map(BlockView::of),
    });
    let page = Wallets {
        wallets: rows.collect(),
        filter,
        pager: query.pager(next),
        forms: vec![visit.make_form(ActName::BlockWallet, &Sent::default())],
    };
    visit.page(DeskPage::Wallets, Here::Wallets, &page).await
}

pub(super) async fn show(visit: Visit, account: Path<String>) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["kind", "client"]);
    let kind = query.text("kind").and_then(AccountKind::parse);
    let account = match find_who(visit.management(), &account, kind).await {
        Ok(Subject::Wallet(account)) => account,
        Err(FindWhoError::Store(error)) => return Err(unavailable(error)),
        Ok(Subject::User(_))
        | Err(
            FindWhoError::Unrecognized(_) | FindWhoError::SeveralKnown(_) | FindWhoError::ContractNowhere,
        ) => return Err(ApiError::not_found()),
    };
    let standing = visit.management().storage.standing_of(&account).await.map_err(unavailable)?;
    let wallet = WalletView::of(&*visit.state.context.wallets, &account);
    let mut events = Serializer::new(String::new());
    events.append_pair("user", &wallet.account);
    if let Some(kind) = account.kind() {
        events.append_pair("kind", kind.name());
    }
    let block = if standing.block.is_some() { ActName::UnblockWallet } else { ActName::BlockWallet };
    let policy = visit.state.context.policy.desk.as_ref();
    let is_operator = policy.is_some_and(|policy| policy.names(&account, &standing.groups));
    let who = Subject::Wallet(account.clone());
    let known = known(visit.management().storage, &who).await.map_err(unavailable)?;
    let forms = [ActName::NameWallet, block, ActName::AddMembers].into_iter();
    let forms = forms.map(|name| visit.make_form(name, &known).of_operator(is_operator));
    let suspension = suspension_of(visit.management().storage, who.clone()).await.map_err(unavailable)?;
    let act = if suspension.is_some() { ActName::RestoreOperator } else { ActName::SuspendOperator };
    let forms = forms.chain((is_operator || suspension.is_some()).then(|| visit.make_form(act, &known)));
    let client = query.text("client");
    let (tried, notice) = match client {
        None => (Vec::new(), None),
        Some(text) => match look_up_client(visit.management(), text).await {
            Ok(client) => (TriedView::ask(&visit, &client, &who).await?, None),
            Err(LookUpClientError::Store(error)) => return Err(unavailable(error)),
            Err(why) => (Vec::new(), Some(Notice::because("client", why))),
        },
    };
    let about =
        About { subject: Some(NameOf::wallet(&account).or(account.shortened())), notice, ..About::default() };
    let page = WalletPage {
        events_path: format!("/events?{}", events.finish()),
        refusals_path: format!("/refusals?q={}", segment(&wallet.account)),
        wallet,
        user: standing.user.map(UserView::of),
        block: standing.block.as_ref().map(BlockView::of),
        suspension: suspension.as_ref().map(BlockView::of_suspension),
        groups: standing.groups.iter().map(ToString::to_string).collect(),
        client: client.map(str::to_owned),
        tried,
        forms: forms.collect(),
    };
    visit.show(DeskPage::Wallet, Here::Wallets, about, StatusCode::OK, &page).await
}

fn account_of(after: &str) -> Result<WalletAccount, ApiError> {
    let [family, chain, address] = <[String; 3]>::try_from(from_cursor(after)?).map_err(|_| wrong_row())?;
    Ok(WalletAccount { family, chain, address })
}
