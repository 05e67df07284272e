//! Wallets, blocks and names as the pages show them.

use countersign_domain::admission::Block;
use countersign_domain::desk::operators::Suspension;
use countersign_domain::identicon::wallet_picture;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_http_actix::endpoint::account::kind_of;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_ports::{StoreError, WalletVerifier};
use countersign_usecases::steps::login::AccountError;
use serde::Serialize;

use super::names::NameOf;
use super::query::segment;

/// The store cannot be asked.
pub(super) fn unavailable(error: StoreError) -> ApiError {
    AccountError::Store(error).into()
}

/// A wallet.
#[derive(Serialize)]
pub(super) struct WalletView {
    /// In CAIP-10 form.
    pub(super) account: String,
    address: String,
    chain: String,
    short: String,
    /// What operators call it, or its user.
    name: NameOf,
    /// What people call this kind of account.
    kind: String,
    /// `key` or `contract`, in wallet families that have both.
    signs: Option<&'static str>,
    /// Its page, below `/admin`.
    path: String,
    /// An image as SVG, made from the address.
    picture: String,
}

impl WalletView {
    pub(super) fn of(wallets: &dyn WalletVerifier, account: &WalletAccount) -> Self {
        Self {
            account: account.caip10(),
            address: account.address.clone(),
            chain: account.chain.clone(),
            short: account.shortened(),
            name: NameOf::wallet(account),
            kind: kind_of(wallets, account),
            signs: account.kind().map(AccountKind::name),
            path: wallet_path(account),
            picture: wallet_picture(account),
        }
    }
}

/// The page of a wallet, below `/admin`.
pub(super) fn wallet_path(account: &WalletAccount) -> String {
    let path = format!("/wallets/{}", segment(&account.caip10()));
    match account.kind() {
        Some(kind) => format!("{path}?kind={}", kind.name()),
        None => path,
    }
}

/// A block.
#[derive(Serialize)]
pub(super) struct BlockView {
    at: Moment,
    reason: Option<String>,
}

impl BlockView {
    pub(super) fn of(block: &Block) -> Self {
        Self { at: Moment::at(block.at), reason: block.reason.clone() }
    }

    /// The same of a suspension.
    pub(super) fn of_suspension(suspension: &Suspension) -> Self {
        Self { at: Moment::at(suspension.at), reason: suspension.reason.clone() }
    }
}
