//! `GET /auth`: the page where a person signs in.

use actix_session::Session;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Query};
use countersign_domain::challenge::iso8601;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::scope::Scope;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AddressHint, SigningHint, WalletVerifier};
use countersign_usecases::describe_sign_in::describe_sign_in;
use countersign_usecases::issue_challenge::Challenge;
use countersign_usecases::recognize_account::NamedChain;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::session::Pendings;
use crate::state::AppState;
use crate::templates::Name;

/// Which of several pending requests is meant.
#[derive(Deserialize)]
pub(crate) struct PageQuery {
    request: Option<String>,
}

/// Where the person is in the way without scripts.
#[derive(Default)]
pub(crate) struct Step {
    /// The text that was issued, if one was.
    pub(crate) challenge: Option<Challenge>,
    /// What went wrong before.
    pub(crate) notice: Option<String>,
    /// The address that was written, to be put right.
    pub(crate) address: Option<String>,
    /// The chains that it can belong to, to be chosen from.
    pub(crate) chains: Vec<NamedChain>,
}

#[derive(Serialize)]
struct PageContext<'a> {
    client: ClientContext,
    destination: String,
    scopes: Vec<ScopeContext>,
    host: &'a str,
    client_id: String,
    redirect_uri: &'a str,
    state: Option<&'a str>,
    /// What stands in the field of the address.
    address: Option<String>,
    address_hints: Vec<HintContext<'a>>,
    chains: Vec<HintContext<'a>>,
    step: &'static str,
    challenge: Option<&'a str>,
    wallet_address: Option<&'a str>,
    chain: Option<&'a str>,
    expires_at: Option<String>,
    how_to_sign: Vec<HintContext<'a>>,
    tries_left: Option<u8>,
    notice: Option<String>,
}

#[derive(Serialize)]
struct ClientContext {
    name: String,
    uri: Option<String>,
    self_registered: bool,
}

#[derive(Serialize)]
struct ScopeContext {
    name: &'static str,
    text: &'static str,
}

/// A name and what there is to say about it: a kind of address and its look, a chain and its accounts, a tool and its use.
#[derive(Serialize)]
struct HintContext<'a> {
    name: &'a str,
    text: &'a str,
}

/// Shows the page for the newest request, or for the one that is named.
pub(crate) async fn show(
    state: Data<AppState>,
    session: Session,
    query: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let mut pendings =
        Pendings::require(&session, state.context.clock.now()).map_err(ApiError::always_as_page)?;
    let named = query.request.as_deref().and_then(|label| pendings.labeled(label)).cloned();
    let pending = named
        .or_else(|| pendings.newest().cloned())
        .ok_or_else(|| ApiError::missing_session().always_as_page())?;
    render(&state, &pending, Step::default(), StatusCode::OK).await.map_err(ApiError::always_as_page)
}

/// Renders the page for one pending request.
pub(crate) async fn render(
    state: &AppState,
    pending: &PendingAuthorization,
    step: Step,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let sign_in = describe_sign_in(&state.context, pending).await?;
    let wallets = &*state.context.wallets;
    let address_hints = wallets.address_hints();
    let issued = step.challenge;
    let login_hint = || pending.login_hint.clone();
    let context = PageContext {
        client: ClientContext {
            name: sign_in.client_name,
            uri: sign_in.client_uri,
            self_registered: sign_in.self_registered,
        },
        destination: sign_in.destination.to_string(),
        scopes: pending
            .scope
            .iter()
            .map(|scope| ScopeContext { name: scope.name(), text: in_words(scope) })
            .collect(),
        host: state.context.policy.public_url.authority(),
        client_id: pending.client.to_string(),
        redirect_uri: pending.redirect_uri.as_str(),
        state: pending.state.as_deref(),
        address: issued
            .as_ref()
            .map(|issued| name_of(wallets, &issued.account))
            .or(step.address)
            .or_else(login_hint),
        address_hints: address_hints
            .iter()
            .map(|AddressHint { kind, look }| HintContext { name: kind, text: look })
            .collect(),
        chains: step
            .chains
            .iter()
            .map(|NamedChain { chain, kind }| HintContext { name: chain, text: kind })
            .collect(),
        step: if issued.is_some() { "sign" } else { "address" },
        expires_at: issued.as_ref().map(|issued| iso8601(issued.expires_at)),
        tries_left: issued.as_ref().filter(|_| step.notice.is_some()).map(|issued| issued.tries_left),
        challenge: issued.as_ref().map(|issued| issued.text.as_str()),
        wallet_address: issued.as_ref().map(|issued| issued.account.address.as_str()),
        chain: issued.as_ref().map(|issued| issued.account.chain.as_str()),
        how_to_sign: issued
            .iter()
            .flat_map(|issued| &issued.signing_hints)
            .map(|SigningHint { tool, how }| HintContext { name: tool, text: how })
            .collect(),
        notice: step.notice,
    };
    let page = state.templates.render(Name::Auth, &context).map_err(ApiError::server_error)?;
    Ok(HttpResponse::build(status).content_type("text/html; charset=utf-8").body(page))
}

/// The shortest name that means exactly this account when it is written again: the address alone, or behind its chain
/// (CAIP-10).
fn name_of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> String {
    match wallets.recognize(&account.address, None).as_slice() {
        [only] if only.account == *account => account.address.clone(),
        _ => account.caip10(),
    }
}

const fn in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::OpenId => "a user id that is yours here",
        Scope::Profile => "your wallet address and a user id",
        Scope::Email => "your e-mail address, if you gave one",
        Scope::OfflineAccess => "access while you are away",
        Scope::Wallets => "all wallets that you linked to your account here",
    }
}
