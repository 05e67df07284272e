//! `GET /auth`: the page where a person signs in.

mod notice;

use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::scope::ScopeSet;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AddressHint, ContractChain, SigningHint, WalletVerifier};
use countersign_usecases::describe_sign_in::{ClientShown, Standing, describe_sign_in};
use countersign_usecases::issue_challenge::Challenge;
use countersign_usecases::recognize_account::NamedChain;
use serde::{Deserialize, Serialize};

pub(crate) use notice::Notice;

use crate::endpoint::playground;
use crate::error::ApiError;
use crate::language::Language;
use crate::session::Pendings;
use crate::state::AppState;
use crate::templates::Name;

/// Which of several pending requests is meant, and how the page shall look.
#[derive(Deserialize)]
pub(crate) struct PageQuery {
    request: Option<String>,
    /// The person wants another wallet than the one that is signed in.
    another: Option<String>,
}

/// Where the person is in the way without scripts.
#[derive(Default)]
pub(crate) struct Step {
    /// The text that was issued, if one was.
    pub(crate) challenge: Option<Challenge>,
    /// What went wrong before.
    pub(crate) notice: Option<Notice>,
    /// The address that was written, to be put right.
    pub(crate) address: Option<String>,
    /// The chains that it can belong to, to be chosen from.
    pub(crate) chains: Vec<NamedChain>,
    /// Does the person want another wallet than the one that is signed in?
    pub(crate) another: bool,
}

#[derive(Serialize)]
struct PageContext<'a> {
    client: ClientContext,
    is_account: bool,
    /// The code that the waiting device shows.
    device: Option<&'a str>,
    destination: String,
    scopes: Vec<ScopeContext>,
    client_id: String,
    redirect_uri: &'a str,
    state: Option<&'a str>,
    request_label: String,
    remembered: Option<RememberedContext>,
    signed_in_as: Option<String>,
    step_up: bool,
    another: bool,
    offer_email: bool,
    may_remember: bool,
    remember_hours: i64,
    playground_wallet: bool,
    contract_chains: Vec<ChainContext<'a>>,
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
    notice: Option<&'a str>,
}

#[derive(Serialize)]
struct ClientContext {
    name: String,
    uri: Option<String>,
    policy_uri: Option<String>,
    tos_uri: Option<String>,
    self_registered: bool,
    described_at: Option<String>,
}

#[derive(Serialize)]
struct RememberedContext {
    /// By CAIP-10.
    name: String,
    account: String,
    short: String,
}

#[derive(Serialize)]
struct ScopeContext {
    name: &'static str,
    is_new: bool,
}

#[derive(Serialize)]
struct ChainContext<'a> {
    chain: &'a str,
    name: &'a str,
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
    request: HttpRequest,
    session: Session,
    query: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let mut pendings =
        Pendings::require(&session, state.context.clock.now()).map_err(ApiError::always_as_page)?;
    let pending = pendings.labeled_or_newest(query.request.as_deref());
    let pending = pending.ok_or_else(|| ApiError::missing_session().always_as_page())?;
    // The person chose a language: what the client asked for does not count any more.
    let chose_language = Language::chosen(&request).is_some() && pending.ui_locales.take().is_some();
    let pending = pending.clone();
    if chose_language {
        pendings.save(&session).map_err(ApiError::server_error)?;
    }
    let step = Step { another: query.another.is_some(), ..Step::default() };
    render(&state, &request, &pending, step, StatusCode::OK).await.map_err(ApiError::always_as_page)
}

/// Renders the page for one pending request.
pub(crate) async fn render(
    state: &AppState,
    request: &HttpRequest,
    pending: &PendingAuthorization,
    step: Step,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    let sign_in = describe_sign_in(context, pending, &state.browser(request)).await?;
    let wallets = &*context.wallets;
    let language = Language::of(request, pending.ui_locales.as_deref());
    let issued = step.challenge;
    // Whoever is on the way to sign, stays on it.
    let another = step.another || issued.is_some() || step.notice.is_some();
    let (remembered, signed_in_as, new) = match sign_in.standing {
        Standing::Stranger => (None, None, None),
        Standing::MayContinue { .. } if another => (None, None, None),
        Standing::MayContinue { account } => {
            let short = account.shortened();
            let name = account.caip10();
            (Some(RememberedContext { name, short, account: account.address }), None, None)
        }
        Standing::MustSign { account, new } => (None, Some(account.address), new),
    };
    let hint = || pending.login_hint.clone();
    let page = PageContext {
        client: ClientContext::of(sign_in.client, context.policy.public_url.authority()),
        is_account: pending.is_for_account(),
        device: pending.device_code(),
        destination: state.templates.destination(language, &sign_in.destination),
        scopes: ScopeContext::list(pending.scope, new),
        client_id: pending.client.to_string(),
        redirect_uri: pending.redirect_uri.as_str(),
        state: pending.state.as_deref(),
        request_label: pending.label(),
        remembered,
        signed_in_as,
        step_up: new.is_some(),
        another: step.another,
        offer_email: sign_in.lacks_email,
        may_remember: context.policy.lifetimes.login_session.is_positive() && !pending.is_for_account(),
        remember_hours: context.policy.lifetimes.login_session.whole_hours().max(1),
        playground_wallet: state.playground
            && pending.redirect_uri.as_str() == playground::redirect_uri(&context.policy.public_url),
        contract_chains: state.contract_chains.iter().map(ChainContext::from).collect(),
        address: issued
            .as_ref()
            .map(|issued| name_of(wallets, &issued.account))
            .or(step.address)
            .or_else(hint),
        address_hints: state
            .address_hints
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
        notice: step.notice.map(|notice| state.templates.text(language, notice.key())),
    };
    state.page(request, language, Name::Auth, status, &page)
}

impl ClientContext {
    /// Our own account page is called by our host.
    fn of(client: Option<ClientShown>, host: &str) -> Self {
        match client {
            Some(ClientShown { name, uri, policy_uri, tos_uri, self_registered, described_at }) => {
                Self { name, uri, policy_uri, tos_uri, self_registered, described_at }
            }
            None => Self {
                name: host.to_owned(),
                uri: None,
                policy_uri: None,
                tos_uri: None,
                self_registered: false,
                described_at: None,
            },
        }
    }
}

impl ScopeContext {
    fn list(scopes: ScopeSet, new: Option<ScopeSet>) -> Vec<Self> {
        let is_new = |scope| new.is_some_and(|new| new.contains(scope));
        scopes.iter().map(|scope| Self { name: scope.name(), is_new: is_new(scope) }).collect()
    }
}

impl<'a> From<&'a ContractChain> for ChainContext<'a> {
    fn from(ContractChain { chain, name }: &'a ContractChain) -> Self {
        Self { chain, name }
    }
}

/// The shortest name that means exactly this account when it is written again: the address alone, or behind its chain
/// (CAIP-10).
fn name_of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> String {
    match wallets.recognize(&account.address, None).as_slice() {
        [only] if only.account == *account => account.address.clone(),
        _ => account.caip10(),
    }
}
