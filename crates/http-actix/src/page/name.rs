//! The names of the pages.

/// A page, by the name of its template.
#[derive(Clone, Copy, Debug)]
pub enum Name {
    Account,
    AccountEmail,
    AccountEvents,
    AccountWallet,
    Auth,
    Continue,
    Desk(DeskPage),
    Device,
    DeviceDone,
    Docs,
    Error,
    FormPost,
    Home,
    Join,
    Logout,
    Offer,
    Playground,
    Received,
    SignedOut,
    Verify,
}

/// A page of the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskPage {
    AdminKeys,
    Change,
    Client,
    Clients,
    Done,
    Event,
    Events,
    Group,
    Groups,
    Invitation,
    Invitations,
    Keys,
    Overview,
    People,
    Person,
    Proposal,
    Proposals,
    Refusal,
    Refusals,
    Refused,
    Resources,
    Search,
    Stale,
    Wallet,
    Wallets,
}

impl DeskPage {
    const fn file(self) -> &'static str {
        match self {
            Self::AdminKeys => "desk-admin-keys.html",
            Self::Change => "desk-change.html",
            Self::Client => "desk-client.html",
            Self::Clients => "desk-clients.html",
            Self::Done => "desk-done.html",
            Self::Event => "desk-event.html",
            Self::Events => "desk-events.html",
            Self::Group => "desk-group.html",
            Self::Groups => "desk-groups.html",
            Self::Invitation => "desk-invitation.html",
            Self::Invitations => "desk-invitations.html",
            Self::Keys => "desk-keys.html",
            Self::Overview => "desk-overview.html",
            Self::People => "desk-people.html",
            Self::Person => "desk-person.html",
            Self::Proposal => "desk-proposal.html",
            Self::Proposals => "desk-proposals.html",
            Self::Refusal => "desk-refusal.html",
            Self::Refusals => "desk-refusals.html",
            Self::Refused => "desk-refused.html",
            Self::Resources => "desk-resources.html",
            Self::Search => "desk-search.html",
            Self::Stale => "desk-stale.html",
            Self::Wallet => "desk-wallet.html",
            Self::Wallets => "desk-wallets.html",
        }
    }
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
            Self::Desk(page) => page.file(),
            Self::Device => "device.html",
            Self::DeviceDone => "device-done.html",
            Self::Docs => "docs.html",
            Self::Error => "error.html",
            Self::FormPost => "form-post.html",
            Self::Home => "home.html",
            Self::Join => "join.html",
            Self::Logout => "logout.html",
            Self::Offer => "offer.html",
            Self::Playground => "playground.html",
            Self::Received => "received.html",
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
            | Self::Desk(_)
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
            | Self::Join
            | Self::Offer
            | Self::Received
            | Self::SignedOut => false,
        }
    }
}
