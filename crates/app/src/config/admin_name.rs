//! An operator's wallet as the settings name it.

use countersign_domain::wallet::AccountKind;

/// An operator's wallet as the settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AdminName {
    /// The account, by CAIP-10.
    pub(crate) account: String,
    /// Whether it is a key or a contract. They are two accounts, and one of them is an operator's (F-15).
    pub(crate) kind: AccountKind,
}
