//! `GET /auth`: the page where a person signs in.

mod notice;

use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::pending::{PendingAuthorization, RequestName, Requester};
use countersign_domain::scope::ScopeSet;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{SigningHint, WalletVerifier};
use countersign_usecases::describe_sign_in::{ClientShown, Standing, describe_sign_in};
use countersign_usecases::issue_challenge::Challenge;
use countersign_usecases::recognize_account::NamedChain;
use serde::Serialize;

pub(crate) use notice::Notice;

use crate::endpoint::playground;
use crate::error::ApiError;
use crate::extract::query_value;
use crate::forms::Action;
use crate::language::Language;
use crate::session::Pendings;
use crate::state::AppState;
use crate::templates::{Place, Values};

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

/// What decides about the page, with places for the values that it only writes.
#[derive(PartialEq, Eq, Hash, Serialize)]
pub(crate) struct SignInPage {
    client: ClientContext,
    is_account: bool,
    /// The code that the waiting device shows.
    device: Option<Place>,
    destination: Place,
    scopes: Vec<ScopeContext>,
    /// What access tokens would be for, beside this server.
    resources: Vec<Place>,
    client_id: Place,
    redirect_uri: Place,
    state: Option<Place>,
    request_label: Place,
    remembered: Option<RememberedContext>,
    /// The secret of the form that denies.
    form_deny: Place,
    signed_in_as: Option<Place>,
    step_up: bool,
    another: bool,
    offer_email: bool,
    may_remember: bool,
    remember_hours: i64,
    playground_wallet: bool,
    /// What stands in the field of the address.
    address: Option<Place>,
    /// The chains to choose from.
    chains: Vec<HintContext>,
    /// `address` or `sign`.
    step: &'static str,
    challenge: Option<Place>,
    wallet_address: Option<Place>,
    chain: Option<Place>,
    expires_at: Option<Place>,
    how_to_sign: Vec<HintContext>,
    tries_left: Option<u8>,
    notice: Option<Place>,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
struct ClientContext {
    name: Place,
    uri: Option<Place>,
    policy_uri: Option<Place>,
    tos_uri: Option<Place>,
    self_registered: bool,
    described_at: Option<Place>,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
struct RememberedContext {
    /// By CAIP-10.
    name: Place,
    account: Place,
    short: Place,
    /// The secret of the form that goes on as this account.
    form: Place,
}

#[derive(PartialEq, Eq, Hash, Serialize)]
struct ScopeContext {
    name: &'static str,
    is_new: bool,
}

/// A name and what there is to say about it: a chain and its accounts, a tool and its use.
#[derive(PartialEq, Eq, Hash, Serialize)]
struct HintContext {
    name: Place,
    text: Place,
}

/// Shows the page for the newest request, or for the one that is named.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let once = |name| query_value(&request, name).map_err(ApiError::always_as_page);
    // Which of several pending requests is meant; and does the person want another wallet than the one that is signed in?
    let (label, another) = (once("request")?, once("another")?);
    let mut pendings =
        Pendings::require(&session, state.context.clock.now()).map_err(ApiError::always_as_page)?;
    let pending = pendings.labeled_or_newest(label.as_deref());
    let pending = pending.ok_or_else(|| ApiError::missing_session().always_as_page())?;
    // The person chose a language: what the client asked for does not count any more.
    let chose_language = Language::chosen(&request).is_some() && pending.ui_locales.take().is_some();
    let pending = pending.clone();
    if chose_language {
        pendings.save(&session).map_err(ApiError::server_error)?;
    }
    let step = Step { another: another.is_some(), ..Step::default() };
    render(&state, (&request, &session), &pending, step, StatusCode::OK)
        .await
        .map_err(ApiError::always_as_page)
}

/// Renders the page for one pending request.
pub(crate) async fn render(
    state: &AppState,
    (request, session): (&HttpRequest, &Session),
    pending: &PendingAuthorization,
    step: Step,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    let forms = state.forms(request).with_new(session, &*context.entropy)?;
    let sign_in = describe_sign_in(context, pending, &state.browser(request)).await?;
    let wallets = &*context.wallets;
    let language = Language::of(request, pending.ui_locales.as_deref());
    let issued = step.challenge;
    // Whoever is on the way to sign, stays on it.
    let another = step.another || issued.is_some() || step.notice.is_some();
    let mut values = Values::default();
    let (remembered, signed_in_as, new) = match sign_in.standing {
        Standing::Stranger => (None, None, None),
        Standing::MayContinue { .. } if another => (None, None, None),
        Standing::MayContinue { account } => {
            let form = forms.secret(&Action::Continue { request: pending, account: &account.caip10() });
            (Some(RememberedContext::of(account, form, &mut values)), None, None)
        }
        Standing::MustSign { account, new } => (None, Some(values.place(account.address)), new),
    };
    let address = issued.as_ref().map(|issued| name_of(wallets, &issued.account)).or(step.address);
    let (is_account, device, login_hint) = match &pending.requester {
        Requester::Client(request) => (false, None, request.login_hint.clone()),
        Requester::AccountPage { .. } => (true, None, None),
        Requester::Device(device) => (false, Some(values.place(device.code.to_string())), None),
    };
    let resources = pending.access().map_or(&[][..], |access| &access.resources);
    let RequestName { client_id, redirect_uri, state: client_state } = pending.requester.name();
    let page = SignInPage {
        client: ClientContext::of(sign_in.client, context.policy.public_url.authority(), &mut values),
        is_account,
        device,
        destination: values.place(state.templates.destination(language, &sign_in.destination)),
        scopes: ScopeContext::list(pending.scope(), new),
        resources: resources.iter().map(|uri| values.place(uri)).collect(),
        client_id: values.place(client_id),
        redirect_uri: values.place(redirect_uri),
        state: client_state.map(|state| values.place(state)),
        request_label: values.place(pending.label()),
        remembered,
        form_deny: values.place(forms.secret(&Action::Deny { request: pending })),
        signed_in_as,
        step_up: new.is_some(),
        another: step.another,
        offer_email: sign_in.lacks_email,
        may_remember: context.policy.lifetimes.login_session.is_positive() && !is_account,
        remember_hours: context.policy.lifetimes.login_session.whole_hours().max(1),
        playground_wallet: state.playground
            && redirect_uri == playground::redirect_uri(&context.policy.public_url),
        address: address.or(login_hint).map(|address| values.place(address)),
        chains: step
            .chains
            .iter()
            .map(|NamedChain { chain, kind }| HintContext::of(chain, kind, &mut values))
            .collect(),
        step: if issued.is_some() { "sign" } else { "address" },
        expires_at: issued.as_ref().map(|issued| values.place(iso8601(issued.expires_at))),
        tries_left: issued.as_ref().filter(|_| step.notice.is_some()).map(|issued| issued.tries_left),
        challenge: issued.as_ref().map(|issued| values.place(&issued.text)),
        wallet_address: issued.as_ref().map(|issued| values.place(&issued.account.address)),
        chain: issued.as_ref().map(|issued| values.place(&issued.account.chain)),
        how_to_sign: issued
            .iter()
            .flat_map(|issued| &issued.signing_hints)
            .map(|SigningHint { tool, how }| HintContext::of(tool, how, &mut values))
            .collect(),
        notice: step.notice.map(|notice| values.place(state.templates.text(language, notice.key()))),
    };
    state.outlined_page(request, language, &state.sign_in_pages, status, page, &values)
}

impl ClientContext {
    /// Our own account page is called by our host.
    fn of<'a>(client: Option<ClientShown>, host: &'a str, values: &mut Values<'a>) -> Self {
        let Some(ClientShown { name, uri, policy_uri, tos_uri, self_registered, described_at }) = client
        else {
            return Self {
                name: values.place(host),
                uri: None,
                policy_uri: None,
                tos_uri: None,
                self_registered: false,
                described_at: None,
            };
        };
        let mut place = |value: String| values.place(value);
        Self {
            name: place(name),
            uri: uri.map(&mut place),
            policy_uri: policy_uri.map(&mut place),
            tos_uri: tos_uri.map(&mut place),
            self_registered,
            described_at: described_at.map(&mut place),
        }
    }
}

impl RememberedContext {
    fn of(account: WalletAccount, form: String, values: &mut Values<'_>) -> Self {
        Self {
            name: values.place(account.caip10()),
            short: values.place(account.shortened()),
            account: values.place(account.address),
            form: values.place(form),
        }
    }
}

impl ScopeContext {
    fn list(scopes: ScopeSet, new: Option<ScopeSet>) -> Vec<Self> {
        let is_new = |scope| new.is_some_and(|new| new.contains(scope));
        scopes.iter().map(|scope| Self { name: scope.name(), is_new: is_new(scope) }).collect()
    }
}

impl HintContext {
    fn of<'a>(name: &'a str, text: &'a str, values: &mut Values<'a>) -> Self {
        Self { name: values.place(name), text: values.place(text) }
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

#[cfg(test)]
mod tests;
