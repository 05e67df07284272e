//! What the page tells a person before they sign.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::redirect_uri::Destination;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;
use crate::login::{Browser, find_login};

/// What the page shows of one pending authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// The client; our own account page is none.
    pub client: Option<ClientShown>,
    /// Where the sign-in leads.
    pub destination: Destination,
    /// What the person has to do.
    pub standing: Standing,
    /// Does the client ask for an e-mail address while none is known to be on file?
    pub lacks_email: bool,
}

/// A client as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientShown {
    /// Its name; anyone can choose one.
    pub name: String,
    /// Its home page.
    pub uri: Option<String>,
    /// Did nobody look at this client?
    pub self_registered: bool,
}

impl From<Client> for ClientShown {
    fn from(client: Client) -> Self {
        let Client { metadata, origin, .. } = client;
        Self {
            name: metadata.name,
            uri: metadata.display.client_uri,
            self_registered: origin == ClientOrigin::SelfRegistered,
        }
    }
}

/// What a person has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody is signed in here: sign.
    Stranger,
    /// Somebody is, but this request needs a signature of its own.
    MustSign {
        /// With which wallet they signed in.
        account: WalletAccount,
        /// What is new to somebody who agreed to this client before.
        new: Option<ScopeSet>,
    },
    /// Press Continue.
    MayContinue {
        /// With which wallet they signed in.
        account: WalletAccount,
    },
}

/// Why the page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum DescribeSignInError {
    /// The client was removed meanwhile.
    #[error("client is not registered any more")]
    ClientUnknown,
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Describes a pending authorization to whoever sits at this browser.
pub async fn describe_sign_in(
    context: &Context,
    pending: &PendingAuthorization,
    browser: &Browser,
) -> Result<SignIn, DescribeSignInError> {
    let client = if pending.is_for_account() {
        None
    } else {
        let found = context.storage.find_client(pending.client).await?;
        Some(found.ok_or(DescribeSignInError::ClientUnknown)?.into())
    };
    let mut lacks_email = pending.scope.contains(Scope::Email);
    let standing = match find_login(context, browser.login.as_ref()).await? {
        None => Standing::Stranger,
        Some(session) => {
            lacks_email = lacks_email && context.storage.find_email(session.user).await?.is_none();
            let consent = context.storage.find_consent(session.user, pending.client).await?;
            let new = consent.map(|consent| pending.scope.without(consent.scope));
            let account = session.account;
            match new {
                Some(new) if new.is_empty() && pending.takes_sign_in_of(session.authenticated_at) => {
                    Standing::MayContinue { account }
                }
                new => Standing::MustSign { account, new: new.filter(|new| !new.is_empty()) },
            }
        }
    };
    Ok(SignIn { client, destination: pending.redirect_uri.destination(), standing, lacks_email })
}
