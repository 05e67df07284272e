//! Linking and unlinking by forms, for people who sign by hand: first the wallets, then the texts with a
//! field for each signature. Scripts and programs send JSON and never see these pages.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::identicon::wallet_picture;
use countersign_domain::wallet::{AccountKind, AccountName, WalletAccount};
use countersign_domain::wallet_change::{PendingWalletChange, WalletChange};
use countersign_usecases::account::begin_wallet_change::{
    BeginWalletChangeError, TextToSign, WalletChangeTexts, WantedChange,
};
use countersign_usecases::account::change_wallets::ChangeWalletsError;
use countersign_usecases::steps::recognize_account::{NamedChain, RecognizeError};
use serde::Serialize;

use crate::browser::forms::Action;
use crate::endpoint::account::kind_of;
use crate::endpoint::sign_in::auth_page::Notice;
use crate::endpoint::sign_in::challenge::chains_of;
use crate::error::ApiError;
use crate::extract::request_id::Reference;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

#[derive(Default, Serialize)]
struct WalletPage<'a> {
    /// `link` or `unlink`.
    change: &'static str,
    /// `address` or `sign`.
    step: &'static str,
    /// The wallet that signs for the user, as the person wrote it.
    signer: String,
    /// The wallet to link or unlink, as the person wrote it.
    other: String,
    /// The picture of each, as SVG, once it is clear which they are.
    signer_picture: Option<String>,
    other_picture: Option<String>,
    /// Whether the signing wallet is a `key` or a `contract`, if the person said so.
    signer_kind: Option<&'static str>,
    /// Must the person say whether the other address is a key's or a contract's?
    asks_kind: bool,
    /// The chains to choose from, if the other address can belong to several.
    chains: Vec<Hint>,
    texts: Vec<TextContext>,
    expires_at: Option<String>,
    tries_left: Option<u8>,
    notice: Option<&'a str>,
    /// The name of the request in the log, where a signature failed.
    reference: Option<String>,
    /// The secret of the form.
    form: String,
}

/// A text, and the names of the form fields that send back the text and its signature.
#[derive(Serialize)]
struct TextContext {
    whose: &'static str,
    address: String,
    kind: String,
    text: String,
    text_field: &'static str,
    signature_field: &'static str,
    how_to_sign: Vec<Hint>,
}

#[derive(Serialize)]
struct Hint {
    name: String,
    text: String,
}

/// The wallets that a person named.
pub(super) struct Asked<'a> {
    pub(super) wanted: WantedChange,
    pub(super) signer: &'a str,
    pub(super) kind: Option<AccountKind>,
    pub(super) other: &'a str,
}

/// Asks again, because it is not clear which wallets the person means.
pub(super) fn ask_again(
    state: &AppState,
    request: &HttpRequest,
    asked: Asked<'_>,
    error: BeginWalletChangeError,
) -> Result<HttpResponse, ApiError> {
    let asks_kind = matches!(error, BeginWalletChangeError::Other(RecognizeError::KindMissing));
    let (key, chains) = match error {
        BeginWalletChangeError::Signer(_) => ("account.trouble.signer_unclear", Vec::new()),
        BeginWalletChangeError::SameWallet => ("account.trouble.same_wallet", Vec::new()),
        BeginWalletChangeError::Other(error) => (Notice::of_address(&error).key(), chains_of(error)),
    };
    // The chain that the person chooses from the list must be the only one: drop the one before the address.
    let bare = AccountName::read(asked.other, None).map_or(asked.other, |name| name.address);
    let page = WalletPage {
        change: name_of(asked.wanted),
        step: "address",
        signer: asked.signer.to_owned(),
        signer_kind: asked.kind.map(AccountKind::name),
        asks_kind,
        other: if chains.is_empty() { asked.other } else { bare }.to_owned(),
        chains: chains.into_iter().map(|NamedChain { chain, kind }| Hint::of(&chain, &kind)).collect(),
        notice: Some(state.pages.templates.text(Language::of(request, None), key)),
        form: state.forms(request).secret(&Action::BeginWalletChange),
        ..WalletPage::default()
    };
    render(state, request, page, StatusCode::BAD_REQUEST)
}

pub(super) fn show_texts(
    state: &AppState,
    request: &HttpRequest,
    pending: &PendingWalletChange,
    texts: WalletChangeTexts,
    form: String,
) -> Result<HttpResponse, ApiError> {
    let page = WalletPage {
        form,
        texts: TextContext::list(state, pending, texts.signer, texts.other),
        expires_at: Some(iso8601(texts.expires_at)),
        ..WalletPage::of(pending, "sign")
    };
    render(state, request, page, StatusCode::OK)
}

/// Says why nothing changed. If there are `texts`, the person can sign again; without them the change is
/// over.
pub(super) fn refused(
    state: &AppState,
    request: &HttpRequest,
    pending: &PendingWalletChange,
    error: ChangeWalletsError,
    texts: Option<(WalletChangeTexts, String)>,
) -> Result<HttpResponse, ApiError> {
    let key = match &error {
        ChangeWalletsError::Challenge(_) | ChangeWalletsError::ChallengeSpent => "notice.bad_challenge",
        ChangeWalletsError::Signature(_) => "account.trouble.bad_signature",
        ChangeWalletsError::OtherSignature(_) => "account.trouble.bad_other_signature",
        ChangeWalletsError::NotAdmitted => "account.trouble.not_admitted",
        ChangeWalletsError::SignerUnknown => "account.trouble.signer_unknown",
        ChangeWalletsError::BelongsToAnother => "account.trouble.belongs_to_another",
        ChangeWalletsError::TooMany { .. } => "account.trouble.too_many_wallets",
        ChangeWalletsError::NotTheirs => "account.trouble.not_theirs",
        ChangeWalletsError::LastWallet => "account.trouble.last_wallet",
        ChangeWalletsError::Verifier(_) => "notice.unavailable",
        ChangeWalletsError::Store(_) => return Err(error.into()),
    };
    // A new signature helps only if the old one was the problem, or could not be checked.
    let can_sign_again = matches!(
        error,
        ChangeWalletsError::Signature(_)
            | ChangeWalletsError::OtherSignature(_)
            | ChangeWalletsError::Verifier(_)
    );
    let notice = Some(state.pages.templates.text(Language::of(request, None), key));
    let page = match texts.filter(|_| can_sign_again) {
        Some((texts, form)) => WalletPage {
            form,
            texts: TextContext::list(state, pending, texts.signer, texts.other),
            expires_at: Some(iso8601(texts.expires_at)),
            tries_left: Some(pending.challenge.tries_left()),
            reference: Reference::of(request),
            notice,
            ..WalletPage::of(pending, "sign")
        },
        None => WalletPage {
            form: state.forms(request).secret(&Action::BeginWalletChange),
            notice,
            ..WalletPage::of(pending, "address")
        },
    };
    let error = super::about(error.into(), pending);
    state.log_refusal(request, &error, None);
    render(state, request, page, error.status)
}

fn render(
    state: &AppState,
    request: &HttpRequest,
    page: WalletPage<'_>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    state.pages.show(request, Language::of(request, None), Name::AccountWallet, status, &page)
}

const fn name_of(wanted: WantedChange) -> &'static str {
    match wanted {
        WantedChange::Link => "link",
        WantedChange::Unlink => "unlink",
    }
}

impl WalletPage<'_> {
    fn of(pending: &PendingWalletChange, step: &'static str) -> Self {
        let change = match pending.change {
            WalletChange::Link { .. } => WantedChange::Link,
            WalletChange::Unlink => WantedChange::Unlink,
        };
        Self {
            change: name_of(change),
            step,
            signer: pending.signer.caip10(),
            signer_kind: pending.signer.kind().map(AccountKind::name),
            other: pending.other.caip10(),
            signer_picture: Some(wallet_picture(&pending.signer)),
            other_picture: Some(wallet_picture(&pending.other)),
            ..Self::default()
        }
    }
}

impl TextContext {
    fn list(
        state: &AppState,
        pending: &PendingWalletChange,
        signer: TextToSign,
        other: Option<TextToSign>,
    ) -> Vec<Self> {
        let make =
            |whose, account: &WalletAccount, to_sign: TextToSign, [text_field, signature_field]: [_; 2]| {
                let hints = to_sign.signing_hints.iter();
                Self {
                    whose,
                    address: account.address.clone(),
                    kind: kind_of(&*state.context.wallets, account),
                    text: to_sign.text,
                    text_field,
                    signature_field,
                    how_to_sign: hints.map(|hint| Hint::of(hint.tool, &hint.how)).collect(),
                }
            };
        let signer = make("signer", &pending.signer, signer, ["challenge", "signature"]);
        let other =
            other.map(|other| make("other", &pending.other, other, ["other_challenge", "other_signature"]));
        std::iter::once(signer).chain(other).collect()
    }
}

impl Hint {
    fn of(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }
}
