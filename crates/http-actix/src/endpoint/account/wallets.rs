//! `/account/wallets`: a person links another wallet to their user, or unlinks one. The signatures show who
//! the user is: no one needs to be signed in for it, and being signed in is not enough. Forms are answered
//! with pages. A browser that is signed in starts at the account page, and must send the signatures with the
//! secret that came with the texts ([`crate::browser::forms`]).

pub(crate) mod description;
mod form;

use actix_session::Session;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::event::Actor;
use countersign_domain::wallet::{AccountKind, AccountName, WalletAccount};
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_usecases::account::begin_wallet_change::{
    BeginWalletChangeError, TextToSign, WantedChange, admit_link, begin_wallet_change, recall_wallet_change,
};
use countersign_usecases::account::change_wallets::{
    ChangeWalletsError, SignedText, WalletsOfUser, link_wallet, unlink_wallet,
};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::browser::forms::Action;
use crate::browser::session;
use crate::endpoint::account;
use crate::endpoint::sign_in::challenge::{HowToSign, kind_named};
use crate::endpoint::steps::done::Done;
use crate::error::{About, ApiError};
use crate::extract::accept::prefers_html;
use crate::extract::body::{Body, BodyKind, required};
use crate::extract::origin::require_ours;
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// The change that the person wants.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct WalletChangeRequest {
    /// `link` or `unlink`.
    change: Option<String>,
    /// The address of one of the user's wallets, alone or after its chain (CAIP-10). This wallet signs for
    /// the user.
    wallet_address: Option<String>,
    /// Its chain in CAIP-2 form. Needed if several chains have addresses of this form.
    chain: Option<String>,
    /// `key` or `contract`. Needed if the address can be either.
    kind: Option<String>,
    /// The address of the wallet to link or unlink.
    other_wallet_address: Option<String>,
    /// Its chain in CAIP-2 form.
    other_chain: Option<String>,
    /// `key` or `contract`.
    other_kind: Option<String>,
    /// The secret of the account page's form. Needed if someone is signed in.
    form: Option<String>,
}

/// The texts to sign.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletChangeAnswer {
    /// The exact text for the user's wallet.
    challenge: String,
    /// The account that signs it, in CAIP-10 form.
    wallet_account: String,
    /// `key` or `contract`, in wallet families that have both.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// How to sign it by hand.
    how_to_sign: Vec<HowToSign>,
    /// The exact text for the other wallet. Only when linking.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_challenge: Option<String>,
    /// The account to link or unlink, in CAIP-10 form.
    other_wallet_account: String,
    /// `key` or `contract` for that account, like `kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_kind: Option<&'static str>,
    /// How to sign the other text by hand. Only when linking.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_how_to_sign: Option<Vec<HowToSign>>,
    /// When the texts expire.
    expires_at: String,
    /// A secret to send back with the signatures. It shows that the request comes from the page that got the
    /// texts, and not from another site.
    form: String,
}

/// The texts and their signatures.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct SignedChange {
    /// The text for the user's wallet, as it was issued.
    challenge: Option<String>,
    /// Its signature.
    signature: Option<String>,
    /// The text for the other wallet. Only when linking.
    other_challenge: Option<String>,
    /// Its signature.
    other_signature: Option<String>,
    /// What the other wallet's software calls itself, or what the user wants to call it. Only when linking.
    /// The user can change it on the account page. No one else sees it, and a text that cannot be a name is
    /// ignored.
    other_wallet_name: Option<String>,
    /// The `form` that came with the texts.
    form: Option<String>,
}

/// The user, and the wallets that they have now.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletsAnswer {
    /// The user's id; it never changes.
    sub: String,
    /// All wallets of the user in CAIP-10 form, the longest linked first.
    wallets: Vec<String>,
}

/// Issues the texts of a change.
pub(crate) async fn begin(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    state.admit(&request, Limited::Challenge)?;
    let is_form = body.kind == BodyKind::Form;
    let asked: WalletChangeRequest = body.either()?;
    state.forms(&request).require(&Action::BeginWalletChange, asked.form.as_deref())?;
    let wanted = match required(asked.change, "change")?.as_str() {
        "link" => WantedChange::Link,
        "unlink" => WantedChange::Unlink,
        _ => return Err(ApiError::invalid_request("change must be link or unlink")),
    };
    let wallet_address = required(asked.wallet_address, "wallet_address")?;
    let other_wallet_address = required(asked.other_wallet_address, "other_wallet_address")?;
    let other_address = if is_form { other_wallet_address.trim() } else { &other_wallet_address };
    // A form that lists wallets sends one value for each: the account, after its kind and a space if the kind
    // must be named.
    let [kind, other_kind] =
        [kind_named(asked.kind.as_deref(), "kind")?, kind_named(asked.other_kind.as_deref(), "other_kind")?];
    let (kind, wallet_address) = match wallet_address.split_once(' ') {
        Some((word, account)) if is_form && kind.is_none() => (kind_named(Some(word), "kind")?, account),
        _ => (kind, wallet_address.as_str()),
    };
    let signer = AccountName::read(wallet_address, asked.chain.as_deref())
        .map(|name| name.of_kind(kind))
        .map_err(|differ| BeginWalletChangeError::Signer(differ.into()));
    let other =
        AccountName::read(other_address, asked.other_chain.as_deref().filter(|chain| !chain.is_empty()))
            .map(|name| name.of_kind(other_kind))
            .map_err(|differ| BeginWalletChangeError::Other(differ.into()));
    let begun = signer.and_then(|signer| begin_wallet_change(context, wanted, signer, other?));
    let (pending, texts) = match begun {
        Ok(begun) => begun,
        Err(error) if is_form => {
            let asked = form::Asked { wanted, signer: wallet_address, kind, other: other_address };
            return form::ask_again(&state, &request, asked, error);
        }
        Err(error) => return Err(error.into()),
    };
    let browser = state.browser(&request);
    let may_tell = wanted == WantedChange::Link
        && browser.login.is_some()
        && state.rate_limits.check(Limited::LinkLookUp, &request).is_ok();
    if may_tell && let Err(error) = admit_link(context, &browser, &pending).await {
        if is_form {
            return form::refused(&state, &request, &pending, error, None);
        }
        return Err(about(error.into(), &pending));
    }
    let forms = state.forms(&request).with_new(&session, &*context.entropy)?;
    session::save_change(&session, &pending, context.clock.now()).map_err(ApiError::server_error)?;
    let form = forms.secret(&Action::ChangeWallets { challenge: pending.challenge.id });
    if is_form {
        return form::show_texts(&state, &request, &pending, texts, form);
    }
    let (challenge, how_to_sign) = parts(texts.signer);
    let (other_challenge, other_how_to_sign) = texts.other.map(parts).unzip();
    Ok(HttpResponse::Ok().json(WalletChangeAnswer {
        challenge,
        wallet_account: pending.signer.caip10(),
        kind: pending.signer.kind().map(AccountKind::name),
        how_to_sign,
        other_challenge,
        other_wallet_account: pending.other.caip10(),
        other_kind: pending.other.kind().map(AccountKind::name),
        other_how_to_sign,
        expires_at: iso8601(texts.expires_at),
        form,
    }))
}

pub(crate) async fn link(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let sent = SignedChange::read(&state, &request, &body)?;
    let signer = signed(sent.challenge, sent.signature, ["challenge", "signature"])?;
    let other = signed(sent.other_challenge, sent.other_signature, ["other_challenge", "other_signature"])?;
    let mut pending = session::load_change(&session)?;
    require_form(&state, &request, &session, &pending, sent.form.as_deref())?;
    let texts = (signer.text.clone(), Some(other.text.clone()));
    let own_name = sent.other_wallet_name.as_deref();
    let cause = state.cause(&request, Actor::Person);
    let done = link_wallet(&state.context, &cause, &mut pending, signer, other, own_name).await;
    Answering { state: &state, request: &request, session: &session, is_form: body.kind == BodyKind::Form }
        .answer(&pending, texts, Done::WalletLinked, done)
}

pub(crate) async fn unlink(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let sent = SignedChange::read(&state, &request, &body)?;
    let signer = signed(sent.challenge, sent.signature, ["challenge", "signature"])?;
    let mut pending = session::load_change(&session)?;
    require_form(&state, &request, &session, &pending, sent.form.as_deref())?;
    let texts = (signer.text.clone(), None);
    let cause = state.cause(&request, Actor::Person);
    let done = unlink_wallet(&state.context, &cause, &mut pending, signer).await;
    Answering { state: &state, request: &request, session: &session, is_form: body.kind == BodyKind::Form }
        .answer(&pending, texts, Done::WalletUnlinked, done)
}

/// Names for the log the wallet that a refused change is about.
fn about(error: ApiError, pending: &PendingWalletChange) -> ApiError {
    error.about(About { client: None, wallet: Some(Box::new(pending.other.clone())) })
}

/// Refuses a request that does not come from the page that showed the texts of this change.
fn require_form(
    state: &AppState,
    request: &HttpRequest,
    session: &Session,
    pending: &PendingWalletChange,
    presented: Option<&str>,
) -> Result<(), ApiError> {
    let action = Action::ChangeWallets { challenge: pending.challenge.id };
    state.forms(request).with(session).require(&action, presented)
}

impl SignedChange {
    fn read(state: &AppState, request: &HttpRequest, body: &Body) -> Result<Self, ApiError> {
        require_ours(request, &state.context.policy.public_url)?;
        state.rate_limits.check(Limited::Login, request)?;
        let mut sent: Self = body.either()?;
        if body.kind == BodyKind::Form {
            // Browsers send the line breaks of a form as CR LF, and pasted text often has spaces around it.
            for text in [&mut sent.challenge, &mut sent.other_challenge].into_iter().flatten() {
                *text = text.replace("\r\n", "\n");
            }
            for signature in [&mut sent.signature, &mut sent.other_signature].into_iter().flatten() {
                *signature = signature.trim().to_owned();
            }
        }
        Ok(sent)
    }
}

fn parts(text: TextToSign) -> (String, Vec<HowToSign>) {
    (text.text, HowToSign::list(text.signing_hints))
}

fn signed(
    text: Option<String>,
    signature: Option<String>,
    names: [&'static str; 2],
) -> Result<SignedText, ApiError> {
    Ok(SignedText { text: required(text, names[0])?, signature: required(signature, names[1])? })
}

/// What an answer depends on besides the change itself.
struct Answering<'a> {
    state: &'a AppState,
    request: &'a HttpRequest,
    session: &'a Session,
    is_form: bool,
}

impl Answering<'_> {
    /// Removes a change that was made from the session. A signature that failed is counted there.
    fn answer(
        &self,
        pending: &PendingWalletChange,
        (signer_text, other_text): (String, Option<String>),
        made: Done,
        done: Result<WalletsOfUser, ChangeWalletsError>,
    ) -> Result<HttpResponse, ApiError> {
        let Self { state, request, session, is_form } = *self;
        let error = match done {
            Ok(WalletsOfUser { user, wallets }) => {
                session::forget_change(session);
                return Ok(if is_form {
                    account::back(state, Some(made))
                } else {
                    HttpResponse::Ok().json(WalletsAnswer {
                        sub: user.to_string(),
                        wallets: wallets.iter().map(WalletAccount::caip10).collect(),
                    })
                });
            }
            Err(error) => error,
        };
        if matches!(error, ChangeWalletsError::Signature(_) | ChangeWalletsError::OtherSignature(_)) {
            session::save_change(session, pending, state.context.clock.now())
                .map_err(ApiError::server_error)?;
        }
        if !is_form || !prefers_html(request) {
            return Err(about(error.into(), pending));
        }
        let texts = recall_wallet_change(&state.context, pending, &signer_text, other_text.as_deref());
        let form = state
            .forms(request)
            .with(session)
            .secret(&Action::ChangeWallets { challenge: pending.challenge.id });
        form::refused(state, request, pending, error, texts.map(|texts| (texts, form)))
    }
}
