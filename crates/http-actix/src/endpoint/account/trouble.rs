//! Why an action on the account page failed.

/// Why an action failed. Each variant has a text in `account.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not an e-mail address.
    BadEmail,
    /// It is an address at which no one has a mailbox.
    ReservedEmail,
    /// The address already got as many links as it may get for now.
    TooManyMails,
    /// The person did not check the box that confirms the deletion.
    NotConfirmed,
    /// The signature is too old for this action.
    SignedInLongAgo,
    /// It cannot be the name of a wallet.
    BadWalletName,
    /// The wallet is not one of the person's.
    NotTheirs,
}

impl Trouble {
    /// Its name, for the template and the key of its text.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::BadEmail => "bad_email",
            Self::ReservedEmail => "reserved_email",
            Self::TooManyMails => "too_many_mails",
            Self::NotConfirmed => "not_confirmed",
            Self::SignedInLongAgo => "signed_in_long_ago",
            Self::BadWalletName => "bad_wallet_name",
            Self::NotTheirs => "not_theirs",
        }
    }

    /// The key of its text.
    pub(super) fn key(self) -> String {
        format!("account.trouble.{}", self.name())
    }
}
