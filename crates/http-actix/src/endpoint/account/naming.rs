//! `POST /account/wallets/rename`: a person gives a wallet of theirs a name, so that they know it again.

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_usecases::account::rename_wallet::{RenameWalletError, WalletToName, rename_wallet};
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;

use super::page::{Step, TypedName};
use super::trouble::Trouble;
use super::{back, refuse, show_again};
use crate::browser::forms::Action;
use crate::endpoint::sign_in::challenge::kind_named;
use crate::endpoint::steps::done::Done;
use crate::error::ApiError;
use crate::extract::body::{Body, required};
use crate::extract::origin::require_ours;
use crate::state::AppState;

/// A wallet and its new name.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct RenameWalletRequest {
    /// The wallet, in CAIP-10 form.
    wallet_account: Option<String>,
    /// `key` or `contract`. Needed if the user has both at the same address.
    kind: Option<String>,
    /// The new name: at most 60 characters, all of them visible. An empty one takes the name away.
    name: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// Renames a wallet.
pub(crate) async fn rename(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    require_ours(&request, &state.context.policy.public_url)?;
    let sent: RenameWalletRequest = body.either()?;
    let account = required(sent.wallet_account, "wallet_account")?;
    let kind = kind_named(sent.kind.as_deref(), "kind")?;
    let action = Action::RenameWallet { account: &account, kind };
    state.forms(&request).require(&action, sent.form.as_deref())?;
    let name = sent.name.unwrap_or_default();
    let wallet = WalletToName { account: &account, kind };
    let (trouble, error) = match rename_wallet(&state.context, &state.browser(&request), wallet, &name).await
    {
        Ok(()) => return Ok(back(&state, Some(Done::WalletRenamed))),
        Err(RenameWalletError::Account(error)) => return refuse(&state, &request, error),
        Err(error @ RenameWalletError::Name(_)) => (Trouble::BadWalletName, error),
        Err(error @ RenameWalletError::NotTheirs) => (Trouble::NotTheirs, error),
    };
    let typed = TypedName { account: &account, kind, name: &name };
    let step = Step { wallet_name: Some(typed), ..Step::trouble(trouble) };
    show_again(&state, &request, error.into(), step).await
}
