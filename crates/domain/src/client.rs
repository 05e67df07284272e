//! Clients: the applications that send people to us (RFC 7591).

use time::OffsetDateTime;

use crate::grant_type::GrantType;
use crate::id::ClientId;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;
use crate::secret::SecretHash;

/// A registered client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its identifier.
    pub id: ClientId,
    /// How it proves who it is.
    pub authentication: ClientAuthentication,
    /// What it told us about itself, judged.
    pub metadata: ClientMetadata,
    /// Who let it in.
    pub origin: ClientOrigin,
    /// What opens its configuration (RFC 7592).
    pub registration_token: SecretHash,
    /// When it was registered, in whole seconds.
    pub created_at: OffsetDateTime,
}

impl Client {
    /// The registered redirect URI that admits the requested one, with the port that was requested.
    pub fn redirect_uri(&self, requested: &str) -> Option<RedirectUri> {
        let admitted = self.metadata.redirect_uris.iter().any(|registered| registered.admits(requested));
        admitted.then(|| RedirectUri::from_trusted(requested.to_owned()))
    }

    /// May the client use this grant type?
    pub fn may_use(&self, grant_type: GrantType) -> bool {
        self.metadata.grant_types.contains(&grant_type)
    }

    /// Is the client one that cannot keep a secret?
    pub const fn is_public(&self) -> bool {
        matches!(self.authentication, ClientAuthentication::Public)
    }
}

/// How a client proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// By a secret, in the body or by HTTP Basic: many libraries probe, so both work for both.
    Secret {
        /// The method that was registered.
        method: SecretMethod,
        /// What we keep of the secret.
        hash: SecretHash,
    },
    /// Not at all; such a client must use PKCE.
    Public,
}

impl ClientAuthentication {
    /// The registered name of the method.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Secret { method, .. } => method.name(),
            Self::Public => AuthenticationMethod::None.name(),
        }
    }
}

/// Where a client said that it sends its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMethod {
    /// In the form.
    Post,
    /// By HTTP Basic.
    Basic,
}

impl SecretMethod {
    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Post => "client_secret_post",
            Self::Basic => "client_secret_basic",
        }
    }
}

/// What a client may ask for at registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationMethod {
    /// One of the methods with a secret.
    Secret(SecretMethod),
    /// None: a public client.
    None,
}

impl AuthenticationMethod {
    /// All methods that work.
    pub const ALL: [Self; 3] =
        [Self::Secret(SecretMethod::Post), Self::Secret(SecretMethod::Basic), Self::None];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secret(method) => method.name(),
            Self::None => "none",
        }
    }

    /// Reads a registered name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Who registered a client. People are told when nobody looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOrigin {
    /// The client itself, over HTTP.
    SelfRegistered,
    /// The operator, at the terminal.
    Operator,
}

impl ClientOrigin {
    /// The word for storage.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SelfRegistered => "self",
            Self::Operator => "operator",
        }
    }

    /// Reads the word of storage.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::SelfRegistered, Self::Operator].into_iter().find(|origin| origin.name() == name)
    }
}

/// What a client told us about itself, after [`crate::registration`] judged it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetadata {
    /// The name that people see.
    pub name: String,
    /// Where people may be sent back to; one to twenty.
    pub redirect_uris: Vec<RedirectUri>,
    /// What the client may ask for.
    pub scopes: ScopeSet,
    /// How it may get tokens.
    pub grant_types: Vec<GrantType>,
    /// Everything that is only kept, shown and given back.
    pub display: DisplayMetadata,
}

/// What is kept for the client and shown to people, without meaning for any decision of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayMetadata {
    /// The client's home page.
    pub client_uri: Option<String>,
    /// Its logo.
    pub logo_uri: Option<String>,
    /// Its terms of service.
    pub tos_uri: Option<String>,
    /// Its privacy policy.
    pub policy_uri: Option<String>,
    /// Whom to write to.
    pub contacts: Vec<String>,
    /// Its keys, as the JSON text that it sent.
    pub jwks: Option<String>,
    /// Where its keys are.
    pub jwks_uri: Option<String>,
    /// `web` or `native`.
    pub application_type: Option<String>,
    /// The algorithm that it wants for ID tokens.
    pub id_token_signed_response_alg: Option<String>,
    /// Where people may go after signing out.
    pub post_logout_redirect_uris: Vec<String>,
}
