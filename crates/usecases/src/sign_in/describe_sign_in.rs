//! What the page shows a person before they sign.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::client_document::host_of;
use countersign_domain::consent::{Consent, ConsentTerms};
use countersign_domain::email::UserEmail;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::redirect_uri::Destination;
use countersign_domain::registration::is_web_address;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;

use crate::Context;
use crate::clients::client_document::{FindClientError, find_pending};
use crate::steps::login::{Browser, find_login};

/// What the page shows about a pending authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// The client; `None` for our own account page.
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
    /// Its privacy policy.
    pub policy_uri: Option<String>,
    /// Its terms of service.
    pub tos_uri: Option<String>,
    /// Did it register itself, so that no one has vetted it?
    pub self_registered: bool,
    /// The host and port of its document, if a document describes it. The operator of that host answers for
    /// the client.
    pub described_at: Option<String>,
    /// Does it know people by an id that clients of other sectors do not get?
    pub is_pairwise: bool,
}

impl From<&Client> for ClientShown {
    fn from(client: &Client) -> Self {
        let Client { metadata, origin, document, .. } = client;
        // If no one vetted the client, people are not offered its addresses, neither on the page nor by its
        // script. And an older release stored addresses that today's rules refuse.
        let is_vetted = *origin == ClientOrigin::Operator;
        let address = |uri: &Option<String>| uri.clone().filter(|uri| is_vetted && is_web_address(uri));
        Self {
            name: client.shown_name().into_owned(),
            uri: address(&metadata.display.client_uri),
            policy_uri: address(&metadata.display.policy_uri),
            tos_uri: address(&metadata.display.tos_uri),
            self_registered: *origin == ClientOrigin::SelfRegistered,
            described_at: document.as_deref().map(|document| host_of(document).to_owned()),
            is_pairwise: metadata.is_pairwise(),
        }
    }
}

/// What a person has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Sign: no one is signed in here.
    Stranger,
    /// Sign: a user is signed in, but this request needs a signature of its own.
    MustSign {
        /// The wallet that they signed in with.
        account: WalletAccount,
        /// The scopes that are new to them, if they agreed to this client before.
        new: Option<ScopeSet>,
    },
    /// Press Continue.
    MayContinue {
        /// The wallet that they signed in with.
        account: WalletAccount,
    },
}

/// Why the page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum DescribeSignInError {
    /// The client was deleted in the meantime, or its document is refused now.
    #[error("client can no longer be used")]
    Client(#[from] FindClientError),
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Describes a pending authorization to the person at this browser.
pub async fn describe_sign_in(
    context: &Context,
    pending: &PendingAuthorization,
    browser: &Browser,
) -> Result<SignIn, DescribeSignInError> {
    let client = match pending.access() {
        Some(access) => Some(ClientShown::from(&*find_pending(context, access).await?)),
        None => None,
    };
    let mut lacks_email = pending.scope().contains(Scope::Email);
    let standing = match find_login(context, browser.login.as_ref()).await? {
        None => Standing::Stranger,
        Some(session) => {
            lacks_email = lacks_email
                && context.storage.find_email(session.user).await?.and_then(UserEmail::if_usable).is_none();
            let new = match pending.access().zip(pending.terms()) {
                Some((access, asked)) => {
                    let consents = context.storage.consents_at(session.user, access.client).await?;
                    what_is_new(&access.scope, &asked, &consents)
                }
                None => None,
            };
            let may_continue = pending.takes_session(&session);
            let account = session.account;
            match new {
                Some(new) if new.is_empty() && may_continue => Standing::MayContinue { account },
                new => Standing::MustSign { account, new: new.filter(|new| !new.is_empty()) },
            }
        }
    };
    Ok(SignIn { client, destination: pending.destination(), standing, lacks_email })
}

/// The scopes that the user has not agreed to yet, compared with the consent that lacks the fewest. `None` if
/// they never agreed to this destination and these audiences.
fn what_is_new(scope: &ScopeSet, asked: &ConsentTerms, consents: &[Consent]) -> Option<ScopeSet> {
    let at_these_terms = consents.iter().filter(|consent| consent.terms.hold(asked));
    at_these_terms.map(|consent| scope.without(&consent.scope)).min_by_key(ScopeSet::len)
}
