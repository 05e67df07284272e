//! `GET /auth`: the page where a person signs in.

pub(crate) mod description;
mod notice;

use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::invitation::InvitationState;
use countersign_domain::pending::{PendingAuthorization, RequestName, Requester};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{SigningHint, WalletVerifier};
use countersign_usecases::sign_in::describe_sign_in::{Standing, describe_sign_in};
use countersign_usecases::sign_in::issue_challenge::Challenge;
use countersign_usecases::steps::recognize_account::NamedChain;

pub(crate) use notice::Notice;

use crate::browser::forms::Action;
use crate::browser::session::{Pendings, forget_invitation};
use crate::endpoint::site::playground;
use crate::error::ApiError;
use crate::extract::query_value;
use crate::extract::request_id::Reference;
use crate::page::language::Language;
use crate::page::sign_in::{
    ClientContext, ContactContext, HintContext, InvitationContext, NotAdmittedContext, OwnScopeContext,
    RememberedContext, ScopeContext, SignInPage,
};
use crate::page::templates::Values;
use crate::page::uri::ResourceContext;
use crate::state::AppState;

/// How far the person has come on the page without scripts.
#[derive(Default)]
pub(crate) struct Step {
    /// The text that was issued, if one was.
    pub(crate) challenge: Option<Challenge>,
    /// What went wrong in the last step.
    pub(crate) notice: Option<Notice>,
    /// The name of the request in the log, where something went wrong.
    pub(crate) reference: Option<String>,
    /// The address that the person typed, so that they can correct it.
    pub(crate) address: Option<String>,
    /// The chains that the address can belong to, for the person to choose from.
    pub(crate) chains: Vec<NamedChain>,
    /// The wallet that is not let in. Then nothing else counts.
    pub(crate) not_admitted: Option<WalletAccount>,
    /// Does the person want to use a wallet other than the one that is signed in?
    pub(crate) another: bool,
}

/// Shows the page for the pending request that the query names, or for the newest.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let once = |name| query_value(&request, name).map_err(ApiError::always_as_page);
    // Which of several pending requests is meant? Does the person want a wallet other than the one that is
    // signed in?
    let (label, another) = (once("request")?, once("another")?);
    let declines = once("uninvited")?.is_some();
    let mut pendings =
        Pendings::require(&session, state.context.clock.now()).map_err(ApiError::always_as_page)?;
    let pending = pendings.labeled_or_newest(label.as_deref());
    let pending = pending.ok_or_else(|| ApiError::missing_session().always_as_page())?;
    // The language that the person chose replaces the one that the client asked for.
    let chose_language = Language::chosen(&request).is_some() && pending.ui_locales.take().is_some();
    if declines && pending.invitation.take().is_some() {
        // The texts that were issued name the invitation.
        pending.challenges.clear();
        forget_invitation(&session);
    }
    let is_changed = chose_language || declines;
    let pending = pending.clone();
    if is_changed {
        pendings.save(&session).map_err(ApiError::server_error)?;
    }
    let step = Step { another: another.is_some(), ..Step::default() };
    render(&state, (&request, &session), &pending, step, StatusCode::OK)
        .await
        .map_err(ApiError::always_as_page)
}

/// Says that a wallet is not let in, with the ways on. Nothing on the page reveals why.
pub(crate) async fn turn_away(
    state: &AppState,
    (request, session): (&HttpRequest, &Session),
    pending: &PendingAuthorization,
    account: WalletAccount,
    error: &ApiError,
) -> Result<HttpResponse, ApiError> {
    let step = Step { not_admitted: Some(account), reference: Reference::of(request), ..Step::default() };
    state.log_refusal(request, error, None);
    render(state, (request, session), pending, step, error.status).await
}

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
    // A person who has begun to sign, or is not let in, does not get the Continue button again.
    let another = step.another || issued.is_some() || step.notice.is_some() || step.not_admitted.is_some();
    let may_continue = matches!(sign_in.standing, Standing::MayContinue { .. });
    let invitation = match &pending.invitation {
        Some(accepted) => Some((accepted, context.storage.find_invitation(accepted.id).await?)),
        None => None,
    };
    let own_scopes = context.show_scopes(pending.scope()).await?;
    let resources = pending.access().map_or(&[][..], |access| &access.resources);
    let resources = context.show_resources(resources.iter().map(String::as_str)).await?;
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
    let RequestName { client_id, redirect_uri, state: client_state } = pending.requester.name();
    let is_pairwise = sign_in.client.as_ref().is_some_and(|client| client.is_pairwise);
    let page = SignInPage {
        hides_wallet: !is_account && !pending.scope().shows_wallet(),
        client: ClientContext::of(
            sign_in.client,
            &context.policy.public_url,
            &state.wallet_links,
            &mut values,
        ),
        is_account,
        device,
        invitation: invitation.map(|(accepted, found)| {
            let is_open =
                found.as_ref().is_some_and(|found| found.state(context.clock.now()) == InvitationState::Open);
            InvitationContext::of(accepted, found, is_open, &context.policy.public_url, &mut values)
        }),
        destination: values.place(state.pages.templates.destination(language, &sign_in.destination)),
        scopes: ScopeContext::list(pending.scope(), new.as_ref(), is_pairwise),
        own_scopes: OwnScopeContext::list(&own_scopes, new.as_ref(), language, &mut values),
        resources: resources
            .iter()
            .map(|resource| ResourceContext::of(resource, |part| values.place(part)))
            .collect(),
        client_id: values.place(client_id),
        redirect_uri: values.place(redirect_uri),
        state: client_state.map(|state| values.place(state)),
        request_label: values.place(pending.label()),
        remembered,
        not_admitted: step.not_admitted.map(|account| NotAdmittedContext::of(account, &mut values)),
        contact: state.contact.as_ref().map(|contact| ContactContext::of(contact, &mut values)),
        may_continue,
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
        reference: step.reference.map(|reference| values.place(reference)),
        notice: step.notice.map(|notice| values.place(state.pages.templates.text(language, notice.key()))),
    };
    state.pages.show_outlined(request, language, &state.sign_in_pages, status, page, &values)
}

/// The shortest name that means exactly this account when it is read again: the address, alone or after its
/// chain (CAIP-10).
fn name_of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> String {
    match wallets.recognize(&account.address, None).as_slice() {
        [only] if only.account == *account => account.address.clone(),
        _ => account.caip10(),
    }
}
