//! A signed-in person looks at their account.

use countersign_domain::client::Client;
use countersign_domain::consent::{Consent, ConsentDestination};
use countersign_domain::email::UserEmail;
use countersign_domain::id::{SessionId, SubjectId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::redirect_uri::{Destination, RedirectUri};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{Account, CameBy, LinkedWallet};
use time::OffsetDateTime;

use crate::Context;
use crate::context::resources::{ShownResource, ShownScope};
use crate::sign_in::describe_sign_in::ClientShown;
use crate::steps::login::{AccountError, Browser, is_recent, require_login, require_recent_login};

/// Everything in a person's account.
#[derive(Clone, Debug)]
pub struct AccountShown {
    /// The user's id; it never changes.
    pub user: UserId,
    /// When the account was created.
    pub created_at: OffsetDateTime,
    /// The wallet that signed in on this browser.
    pub signed_in_as: WalletAccount,
    /// The session of this browser.
    pub this_session: SessionId,
    /// Did the wallet sign recently enough to delete the account, change its address or download its data?
    pub signed_in_lately: bool,
    /// The wallets, oldest link first.
    pub wallets: Vec<LinkedWallet>,
    /// What the person agreed to, most recently used first.
    pub consents: Vec<ConsentShown>,
    /// The invitations that the wallets came in by, the earliest first.
    pub came_by: Vec<CameBy>,
    /// The live sessions, most recently used first.
    pub sessions: Vec<LoginSession>,
    /// The e-mail address.
    pub email: Option<UserEmail>,
    /// Can an address be confirmed by mail?
    pub sends_mail: bool,
}

/// What a person agreed to at one client.
#[derive(Clone, Debug)]
pub struct ConsentShown {
    /// The consent.
    pub consent: Consent,
    /// The client.
    pub client: ClientShown,
    /// The person, as the client knows them.
    pub subject: SubjectId,
    /// Where it led. People know the client by this, because anyone can choose a name.
    pub destination: ConsentShownAt,
    /// The scopes of resources in it, in the operator's words.
    pub own_scopes: Vec<ShownScope>,
    /// What access tokens are for, besides this server.
    pub resources: Vec<ShownResource>,
}

/// Reads the account of the user who is signed in on this browser.
pub async fn read_account(context: &Context, browser: &Browser) -> Result<AccountShown, AccountError> {
    let session = require_login(context, browser).await?;
    let now = context.clock.now();
    let found = context.storage.find_account(session.user).await?.ok_or(AccountError::SignedOut)?;
    let Account { created_at, wallets, consents, sessions, email } = found;
    let mut shown = Vec::with_capacity(consents.len());
    for consent in consents {
        if let Some(client) = context.clients.find(consent.client).await? {
            let destination = ConsentShownAt::of(&consent, &client);
            let own_scopes = context.show_scopes(&consent.scope).await?;
            let resources = context.show_resources(consent.terms.audiences.resources()).await?;
            let subject = context.keys.pairwise.known_to(&client).subject(session.user);
            let client = (&*client).into();
            shown.push(ConsentShown { consent, client, subject, destination, own_scopes, resources });
        }
    }
    Ok(AccountShown {
        user: session.user,
        created_at,
        signed_in_lately: is_recent(&session, now),
        signed_in_as: session.account,
        this_session: session.id,
        wallets,
        consents: shown,
        came_by: context.storage.invitations_of(session.user).await?,
        sessions: sessions.into_iter().filter(|session| now < session.expires_at).collect(),
        email: email.and_then(UserEmail::if_usable),
        sends_mail: context.mailer.is_some(),
    })
}

/// Where a consent leads, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentShownAt {
    /// To a site, a program on the person's computer or an app.
    Redirect(Destination),
    /// To a device that showed a code.
    Device,
    /// To a program without a browser.
    Program,
    /// It was not recorded, so the consent no longer matches any destination. These are the places where the
    /// client may send people, each once.
    Unrecorded(Vec<Destination>),
}

impl ConsentShownAt {
    fn of(consent: &Consent, client: &Client) -> Self {
        match &consent.terms.destination {
            ConsentDestination::Origin(origin) => {
                Self::Redirect(RedirectUri::from_trusted(origin.clone()).destination())
            }
            ConsentDestination::Device => Self::Device,
            ConsentDestination::Program => Self::Program,
            ConsentDestination::Unrecorded => Self::Unrecorded(places(&client.metadata.redirect_uris)),
        }
    }
}

/// The places where these addresses lead, each once.
fn places(redirect_uris: &[RedirectUri]) -> Vec<Destination> {
    let mut places = Vec::new();
    for place in redirect_uris.iter().map(RedirectUri::destination) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Reads the account for a download, which needs a recent signature.
pub async fn download_account(context: &Context, browser: &Browser) -> Result<AccountShown, AccountError> {
    require_recent_login(context, browser).await?;
    read_account(context, browser).await
}
