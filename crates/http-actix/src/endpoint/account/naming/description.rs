//! What the OpenAPI document says about renaming wallets.

use serde_json::json;

use crate::endpoint::account::description::change;
use crate::endpoint::description::examples::{self, PAGE_FORM};
use crate::endpoint::description::operation::Operation;

pub(crate) fn rename() -> Operation {
    change(
        Operation::new(
            "POST",
            "/account/wallets/rename",
            ("renameWallet", "Give a wallet a name"),
            "Only the user sees the name, on the account page and in the file of the account. It is in no \
             text to sign and in no token.",
        ),
        "RenameWalletRequest",
        json!({
            "wallet_account": examples::ethereum_account().caip10(),
            "kind": "key",
            "name": "My savings",
            "form": PAGE_FORM,
        }),
    )
    .refuses(
        400,
        &[
            ("invalid_request", "wallet_account is missing"),
            ("invalid_request", "name takes 1 to 60 characters"),
        ],
    )
    .refuses(409, &[("invalid_request", "wallet_account and kind must name one of this user's wallets")])
}
