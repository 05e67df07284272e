//! Why something on the account page was not done.

/// Why something was not done; each has a text in `account.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// What was given is no e-mail address.
    BadEmail,
    /// It is one where nobody has a mailbox.
    ReservedEmail,
    /// So many links were mailed there already that the next one must wait.
    TooManyMails,
    /// The box that says yes to the deletion is empty.
    NotConfirmed,
    /// The signature is too old for what was asked.
    SignedInLongAgo,
}

impl Trouble {
    /// Its name among the texts.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::BadEmail => "bad_email",
            Self::ReservedEmail => "reserved_email",
            Self::TooManyMails => "too_many_mails",
            Self::NotConfirmed => "not_confirmed",
            Self::SignedInLongAgo => "signed_in_long_ago",
        }
    }

    /// The key of its text.
    pub(super) fn key(self) -> String {
        format!("account.trouble.{}", self.name())
    }
}
