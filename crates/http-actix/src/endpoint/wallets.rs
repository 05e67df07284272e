//! `/account/wallets`: a person links another wallet to their user, or unlinks one. Whoever presents the signatures is the
//! user: nobody needs to be signed in for it, and being signed in is not enough.

use actix_session::Session;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::wallet::{AccountName, WalletAccount};
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_usecases::begin_wallet_change::{
    BeginWalletChangeError, TextToSign, WantedChange, begin_wallet_change,
};
use countersign_usecases::change_wallets::{
    ChangeWalletsError, SignedText, WalletsOfUser, link_wallet, unlink_wallet,
};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::challenge::HowToSign;
use crate::error::ApiError;
use crate::extract::body::{Body, required};
use crate::origin::require_ours;
use crate::rate_limit::Limited;
use crate::session;
use crate::state::AppState;

/// What should change.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct WalletChangeRequest {
    /// `link` or `unlink`.
    change: Option<String>,
    /// The address of a wallet of the user, alone or behind its chain (CAIP-10). It signs for the user.
    wallet_address: Option<String>,
    /// Its chain by CAIP-2, where several chains write such an address.
    chain: Option<String>,
    /// The address of the wallet that comes or goes.
    other_wallet_address: Option<String>,
    /// Its chain by CAIP-2.
    other_chain: Option<String>,
}

/// The texts to sign.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletChangeAnswer {
    /// The exact text for the user's wallet.
    challenge: String,
    /// The account that signs it, by CAIP-10.
    wallet_account: String,
    /// How to sign it by hand.
    how_to_sign: Vec<HowToSign>,
    /// The exact text for the other wallet; only for a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_challenge: Option<String>,
    /// The account that comes or goes, by CAIP-10.
    other_wallet_account: String,
    /// How to sign the other text by hand; only for a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_how_to_sign: Option<Vec<HowToSign>>,
    /// When the texts stop being good.
    expires_at: String,
}

/// The texts and their signatures.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct SignedChange {
    /// The text for the user's wallet, as it was issued.
    challenge: Option<String>,
    /// Its signature.
    signature: Option<String>,
    /// The text for the other wallet; only for a link.
    other_challenge: Option<String>,
    /// Its signature.
    other_signature: Option<String>,
}

/// The user, and what is theirs now.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct WalletsAnswer {
    /// The user's id; it never changes.
    sub: String,
    /// All wallets of the user by CAIP-10, the longest linked first.
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
    require_ours(&request, &context.policy.public_url)?;
    state.rate_limits.check(Limited::Challenge, &request)?;
    let asked: WalletChangeRequest = body.only_json()?;
    let wanted = match required(asked.change, "change")?.as_str() {
        "link" => WantedChange::Link,
        "unlink" => WantedChange::Unlink,
        _ => return Err(ApiError::invalid_request("change must be link or unlink")),
    };
    let wallet_address = required(asked.wallet_address, "wallet_address")?;
    let other_wallet_address = required(asked.other_wallet_address, "other_wallet_address")?;
    let signer = AccountName::read(&wallet_address, asked.chain.as_deref())
        .map_err(|differ| BeginWalletChangeError::Signer(differ.into()))?;
    let other = AccountName::read(&other_wallet_address, asked.other_chain.as_deref())
        .map_err(|differ| BeginWalletChangeError::Other(differ.into()))?;
    let (pending, texts) = begin_wallet_change(context, wanted, signer, other)?;
    session::save_change(&session, &pending, context.clock.now()).map_err(ApiError::server_error)?;
    let (challenge, how_to_sign) = parts(texts.signer);
    let (other_challenge, other_how_to_sign) = texts.other.map(parts).unzip();
    Ok(HttpResponse::Ok().json(WalletChangeAnswer {
        challenge,
        wallet_account: pending.signer.caip10(),
        how_to_sign,
        other_challenge,
        other_wallet_account: pending.other.caip10(),
        other_how_to_sign,
        expires_at: iso8601(texts.expires_at),
    }))
}

/// Links a wallet.
pub(crate) async fn link(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    require_ours(&request, &context.policy.public_url)?;
    state.rate_limits.check(Limited::Login, &request)?;
    let sent: SignedChange = body.only_json()?;
    let signer = signed(sent.challenge, sent.signature, ["challenge", "signature"])?;
    let other = signed(sent.other_challenge, sent.other_signature, ["other_challenge", "other_signature"])?;
    let mut pending = session::load_change(&session)?;
    let done = link_wallet(context, &mut pending, signer, other).await;
    answer(&state, &session, &pending, done)
}

/// Unlinks a wallet.
pub(crate) async fn unlink(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    require_ours(&request, &context.policy.public_url)?;
    state.rate_limits.check(Limited::Login, &request)?;
    let sent: SignedChange = body.only_json()?;
    let signer = signed(sent.challenge, sent.signature, ["challenge", "signature"])?;
    let mut pending = session::load_change(&session)?;
    let done = unlink_wallet(context, &mut pending, signer).await;
    answer(&state, &session, &pending, done)
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

/// A change that was made is forgotten, and a signature that failed is remembered in the session.
fn answer(
    state: &AppState,
    session: &Session,
    pending: &PendingWalletChange,
    done: Result<WalletsOfUser, ChangeWalletsError>,
) -> Result<HttpResponse, ApiError> {
    match done {
        Ok(WalletsOfUser { user, wallets }) => {
            session::forget_change(session);
            Ok(HttpResponse::Ok().json(WalletsAnswer {
                sub: user.to_string(),
                wallets: wallets.iter().map(WalletAccount::caip10).collect(),
            }))
        }
        Err(error @ (ChangeWalletsError::Signature(_) | ChangeWalletsError::OtherSignature(_))) => {
            session::save_change(session, pending, state.context.clock.now())
                .map_err(ApiError::server_error)?;
            Err(error.into())
        }
        Err(error) => Err(error.into()),
    }
}
