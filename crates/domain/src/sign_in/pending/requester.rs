//! Who asks a person to sign in, and what each of them brings along.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::audience::SignedAudiences;
use crate::challenge::Purpose;
use crate::consent::{ConsentDestination, ConsentTerms};
use crate::device::UserCode;
use crate::form_key::FormSecret;
use crate::id::{ClientId, GrantId, SessionId, UserId};
use crate::key_thumbprint::KeyThumbprint;
use crate::pkce::CodeChallenge;
use crate::redirect_uri::{Destination, RedirectUri};
use crate::response_mode::ResponseMode;
use crate::scope::ScopeSet;

/// Names our account page in a form and in a label, where other requests have their client's id. It is the
/// nil UUID, which no client has.
pub const ACCOUNT_PAGE: &str = "00000000-0000-0000-0000-000000000000";

/// Who asks a person to sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requester {
    /// A client. The browser takes the code to it.
    Client(ClientRequest),
    /// Our own account page. It gets a session and no grant.
    AccountPage {
        /// The page of ours to come back to.
        page: RedirectUri,
    },
    /// A device that waits elsewhere and has its code already.
    Device(WaitingDevice),
}

/// What a client would get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    /// The client.
    pub client: ClientId,
    /// The document that describes the client, if it did not register.
    pub document: Option<String>,
    /// What would be granted.
    pub scope: ScopeSet,
    /// The resources that access tokens are for.
    pub resources: Vec<String>,
}

/// An authorization request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequest {
    /// What the client would get.
    pub access: AccessRequest,
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// The client's own value, given back byte for byte.
    pub state: Option<String>,
    /// OpenID Connect's replay protection, given back in the ID token.
    pub nonce: Option<String>,
    /// The PKCE challenge.
    pub code_challenge: Option<CodeChallenge>,
    /// The address that the client thinks will sign; never believed.
    pub login_hint: Option<String>,
    /// How the answer reaches the client.
    pub response_mode: ResponseMode,
    /// The key that the code is bound to.
    pub key: Option<KeyThumbprint>,
    /// The users that the client accepts.
    pub accepted: AcceptedUsers,
    /// Does the client ask when the user signed in?
    pub asked_auth_time: bool,
}

/// Who may answer a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AcceptedUsers {
    /// The request names none.
    #[default]
    Anyone,
    /// One of those that it names.
    OneOf(Vec<UserId>),
}

impl AcceptedUsers {
    /// Is this one of them?
    pub fn accepts(&self, user: UserId) -> bool {
        match self {
            Self::Anyone => true,
            Self::OneOf(users) => users.contains(&user),
        }
    }

    /// Those of them who are also in this list, each once.
    #[must_use]
    pub fn among(&self, users: impl IntoIterator<Item = UserId>) -> Self {
        let mut accepted = Vec::new();
        for user in users {
            if self.accepts(user) && !accepted.contains(&user) {
                accepted.push(user);
            }
        }
        Self::OneOf(accepted)
    }

    /// Those who are named.
    pub fn named(&self) -> &[UserId] {
        match self {
            Self::Anyone => &[],
            Self::OneOf(users) => users,
        }
    }
}

/// A device that a person signs in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingDevice {
    /// The id of its request, and of the grant that answers it.
    pub id: GrantId,
    /// The code that it shows. It distinguishes this device from others of the same client.
    pub code: UserCode,
    /// What the client on the device would get.
    pub access: AccessRequest,
    /// The page of ours where the browser goes afterwards.
    pub done: RedirectUri,
}

/// The three values by which a page names its request in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestName<'a> {
    /// The client's id, or [`ACCOUNT_PAGE`].
    pub client_id: String,
    /// Where the browser goes afterwards.
    pub redirect_uri: &'a str,
    /// The client's state, or the code that the device shows.
    pub state: Option<Cow<'a, str>>,
}

impl Requester {
    /// What a client would get; `None` for the account page, which gets no grant.
    pub const fn access(&self) -> Option<&AccessRequest> {
        match self {
            Self::Client(ClientRequest { access, .. }) | Self::Device(WaitingDevice { access, .. }) => {
                Some(access)
            }
            Self::AccountPage { .. } => None,
        }
    }

    /// What a person agrees to by signing, besides the client and the scopes; `None` for the account page,
    /// which gets no grant.
    pub fn terms(&self) -> Option<ConsentTerms> {
        match self {
            Self::Client(request) => Some(request.terms()),
            Self::Device(device) => Some(device.terms()),
            Self::AccountPage { .. } => None,
        }
    }

    /// Where the sign-in leads.
    pub fn destination(&self) -> Destination {
        match self {
            Self::Client(ClientRequest { redirect_uri, .. }) => redirect_uri.destination(),
            Self::AccountPage { page } => page.destination(),
            Self::Device(WaitingDevice { code, .. }) => Destination::Device(code.to_string()),
        }
    }

    /// What signing does.
    pub fn purpose(&self) -> Purpose<'_> {
        match self {
            Self::Client(ClientRequest { redirect_uri, access, .. }) => {
                let AccessRequest { client, ref scope, ref resources, .. } = *access;
                Purpose::SignIn { redirect_uri, client, scope, resources }
            }
            Self::AccountPage { .. } => Purpose::Account,
            Self::Device(WaitingDevice { code, access, .. }) => {
                let AccessRequest { client, ref scope, ref resources, .. } = *access;
                Purpose::Device { code: *code, client, scope, resources }
            }
        }
    }

    /// Identifies for a form everything that its page shows about the request. Each kind of request begins
    /// with a name of its own.
    pub(super) fn bind(&self, form: FormSecret) -> FormSecret {
        match self {
            Self::Client(request) => request.bind(form.that_says("client")),
            Self::AccountPage { page } => form.that_says("account").that_says(page.as_str()),
            Self::Device(WaitingDevice { id, code, access, done: _ }) => {
                access.bind(form.that_says("device").that_says(id.as_uuid()).that_says(code.to_string()))
            }
        }
    }

    /// The values by which a page names the request.
    pub fn name(&self) -> RequestName<'_> {
        match self {
            Self::Client(request) => request.name(),
            Self::AccountPage { page } => {
                RequestName { client_id: ACCOUNT_PAGE.to_owned(), redirect_uri: page.as_str(), state: None }
            }
            Self::Device(WaitingDevice { code, access, done, .. }) => RequestName {
                client_id: access.client.to_string(),
                redirect_uri: done.as_str(),
                state: Some(Cow::Owned(code.to_string())),
            },
        }
    }
}

impl ClientRequest {
    /// A request without any of its optional parts.
    pub const fn bare(client: ClientId, redirect_uri: RedirectUri, scope: ScopeSet) -> Self {
        Self {
            access: AccessRequest { client, document: None, scope, resources: Vec::new() },
            redirect_uri,
            state: None,
            nonce: None,
            code_challenge: None,
            login_hint: None,
            response_mode: ResponseMode::Query,
            key: None,
            accepted: AcceptedUsers::Anyone,
            asked_auth_time: false,
        }
    }

    /// What a person agrees to by signing, besides the client and the scopes.
    pub fn terms(&self) -> ConsentTerms {
        self.access.terms_at(ConsentDestination::of(&self.redirect_uri))
    }

    /// The id of the grant that a login session gets from this request, which is forgotten at `expires_at`.
    /// It is the same each time, so the request is answered once however often it is sent (B-065). No two
    /// sessions share an id.
    pub fn grant_id(&self, expires_at: OffsetDateTime, session: SessionId) -> GrantId {
        let mut hash = Sha256::new();
        hash.update(session.as_uuid());
        hash.update(expires_at.unix_timestamp().to_be_bytes());
        hash.update(self.name().label());
        hash.update(self.access.scope.to_bytes());
        hash.update(self.code_challenge.map_or([0; 32], |challenge| *challenge.as_bytes()));
        hash.update(self.nonce.as_deref().unwrap_or_default());
        hash.update([0]);
        hash.update(self.access.resources.join(" "));
        hash.update(self.key.map_or([0; 32], |key| *key.as_bytes()));
        let mut random = [0; 10];
        random.copy_from_slice(&hash.finalize()[..10]);
        GrantId::at(expires_at, random)
    }

    fn bind(&self, form: FormSecret) -> FormSecret {
        let Self { access, redirect_uri, state, nonce, code_challenge, key, accepted, .. } = self;
        let accepted: Vec<u8> = accepted.named().iter().flat_map(|user| *user.as_uuid().as_bytes()).collect();
        let form = form
            .that_says(redirect_uri.as_str())
            .that_says(state.as_deref().unwrap_or_default())
            .that_says(nonce.as_deref().unwrap_or_default())
            .that_says(code_challenge.as_ref().map_or(&[][..], |challenge| challenge.as_bytes()))
            .that_says(key.as_ref().map_or(&[][..], |key| key.as_bytes()))
            .that_says(&accepted);
        access.bind(form)
    }

    fn name(&self) -> RequestName<'_> {
        RequestName {
            client_id: self.access.client.to_string(),
            redirect_uri: self.redirect_uri.as_str(),
            state: self.state.as_deref().map(Cow::Borrowed),
        }
    }
}

impl WaitingDevice {
    /// What a person agrees to by signing, besides the client and the scopes.
    pub fn terms(&self) -> ConsentTerms {
        self.access.terms_at(ConsentDestination::Device)
    }
}

impl AccessRequest {
    /// The resources come last, because there can be any number of them.
    fn bind(&self, form: FormSecret) -> FormSecret {
        let Self { client, document, scope, resources } = self;
        let form = form
            .that_says(client.as_uuid())
            .that_says(document.as_deref().unwrap_or_default())
            .that_says(scope.to_bytes());
        resources.iter().fold(form, FormSecret::that_says)
    }

    fn terms_at(&self, destination: ConsentDestination) -> ConsentTerms {
        ConsentTerms { destination, audiences: SignedAudiences::of(&self.resources, &self.scope) }
    }
}

impl RequestName<'_> {
    /// A short name that distinguishes the request from the few others of a session, so that a page can be
    /// loaded again.
    pub fn label(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&self.client_id, self.redirect_uri, self.state.as_deref().unwrap_or_default()] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(&hash.finalize()[..4])
    }
}
