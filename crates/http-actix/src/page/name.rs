//! The names of the pages.

/// A page, by the name of its template.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    Account,
    AccountEmail,
    AccountEvents,
    AccountWallet,
    Auth,
    Continue,
    Device,
    DeviceDone,
    Docs,
    Error,
    FormPost,
    Home,
    Logout,
    Offer,
    Playground,
    SignedOut,
    Verify,
}

impl Name {
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::Account => "account.html",
            Self::AccountEmail => "account-email.html",
            Self::AccountEvents => "account-events.html",
            Self::AccountWallet => "account-wallet.html",
            Self::Auth => "auth.html",
            Self::Continue => "continue.html",
            Self::Device => "device.html",
            Self::DeviceDone => "device-done.html",
            Self::Docs => "docs.html",
            Self::Error => "error.html",
            Self::FormPost => "form-post.html",
            Self::Home => "home.html",
            Self::Logout => "logout.html",
            Self::Offer => "offer.html",
            Self::Playground => "playground.html",
            Self::SignedOut => "account-signed-out.html",
            Self::Verify => "verify.html",
        }
    }
}

impl Name {
    /// Does the page have a form besides the language menu?
    pub(crate) const fn has_forms(self) -> bool {
        match self {
            Self::Account
            | Self::AccountEmail
            | Self::AccountWallet
            | Self::Auth
            | Self::Device
            | Self::Docs
            | Self::FormPost
            | Self::Logout
            | Self::Playground
            | Self::Verify => true,
            Self::AccountEvents
            | Self::Continue
            | Self::DeviceDone
            | Self::Error
            | Self::Home
            | Self::Offer
            | Self::SignedOut => false,
        }
    }
}
