//! Clients: the applications that send people to us (RFC 7591).

use std::borrow::Cow;

use time::{Duration, OffsetDateTime};

use crate::admission::ClientAccess;
use crate::client_field::{ClientField, FieldSaid, FieldSlot, RequestedMetadata};
use crate::client_secrets::ClientSecrets;
use crate::grant_type::GrantType;
use crate::id::ClientId;
use crate::lifetimes::{Lifetimes, Longest, TokenLifetimes};
use crate::own_origin::OwnOrigin;
use crate::readable;
use crate::redirect_uri::{RedirectUri, UriOwner};
use crate::scope::{Scope, ScopeSet};
use crate::secret::SecretHash;
use crate::signing_algorithm::SigningAlgorithm;

pub use crate::client_field::DisplayMetadata;

/// A registered client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its identifier.
    pub id: ClientId,
    /// How it authenticates.
    pub authentication: ClientAuthentication,
    /// The metadata that it gave us, checked.
    pub metadata: ClientMetadata,
    /// Who registered it.
    pub origin: ClientOrigin,
    /// The URL of the document that describes it, which is also its `client_id`. `None` for a client that
    /// registered.
    pub document: Option<String>,
    /// The resources that the operator opened to it by name. Neither a registration nor a document sets them.
    pub resources: Vec<String>,
    /// Who can sign in to it, and which of their groups it gets.
    pub access: ClientAccess,
    /// The hash of the token that opens its configuration (RFC 7592).
    pub registration_token: SecretHash,
    /// When it was registered, in whole seconds.
    pub created_at: OffsetDateTime,
}

impl Client {
    /// The requested redirect URI, if a registered one matches it and it does not lead back to this server. An older
    /// release let clients register such URIs (F-02).
    pub fn redirect_uri(&self, requested: &str, own_origin: OwnOrigin<'_>) -> Option<RedirectUri> {
        let (registered, owner) = (&self.metadata.redirect_uris, self.uri_owner());
        let admitted = registered.iter().find_map(|registered| registered.admitted(requested, owner));
        admitted.filter(|admitted| !own_origin.forbids(admitted.as_str()))
    }

    /// What kind of client it is, for its redirect URIs.
    pub const fn uri_owner(&self) -> UriOwner {
        UriOwner::of(self.origin, &self.authentication)
    }

    /// Its name for people. If the stored name comes from laxer rules and would be unreadable, its id
    ///
    pub fn shown_name(&self) -> Cow<'_, str> {
        readable::shown_name(&self.metadata.name, || self.wire_id())
    }

    /// Its `client_id`, as the client writes it.
    pub fn wire_id(&self) -> String {
        self.document.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// The algorithm of its ID tokens: RS256 unless it chose another.
    pub fn id_token_algorithm(&self) -> SigningAlgorithm {
        let chosen = self.metadata.display.id_token_signed_response_alg.as_deref();
        chosen.and_then(SigningAlgorithm::parse).unwrap_or(SigningAlgorithm::Rs256)
    }

    /// The scopes that it can ask for: those that it registered, without any that only operators give.
    pub fn scopes(&self) -> ScopeSet {
        self.origin.admitted(&self.metadata.scopes)
    }

    /// Can it ask for the scopes of resources that are open to everyone, whatever it registered? A document is the
    /// same for every server, and a client that registered itself without naming scopes did not know any.
    pub fn may_ask_for_open_scopes(&self) -> bool {
        match self.origin {
            ClientOrigin::Operator => false,
            ClientOrigin::SelfRegistered => are_usual(&self.metadata.scopes),
            ClientOrigin::Document => true,
        }
    }

    /// The lifetimes of its tokens. An operator who lowers the longest ones in the settings shortens those of every client.
    pub fn lifetimes(&self, settings: &Lifetimes) -> TokenLifetimes {
        let own = &self.metadata.display;
        let limited = |seconds: Option<u32>, longest: Duration| {
            seconds.map(|seconds| Duration::seconds(seconds.into()).min(longest))
        };
        let Longest { access_token, refresh_token } = settings.longest;
        TokenLifetimes {
            access_token: limited(own.access_token_ttl, access_token).unwrap_or(settings.access_token),
            refresh_token: limited(own.refresh_token_ttl, refresh_token).unwrap_or(refresh_token),
            idle: limited(own.refresh_token_idle_ttl, refresh_token).unwrap_or(settings.refresh_token),
        }
    }

    /// Can the client use this grant type?
    pub fn may_use(&self, grant_type: GrantType) -> bool {
        self.metadata.grant_types.contains(&grant_type)
    }

    /// Does the client follow the FAPI 2.0 Security Profile? Then the server holds it to the whole profile. A
    /// client opts in by requiring both pushed requests and bound tokens.
    pub const fn keeps_fapi(&self) -> bool {
        self.metadata.requires_pushed_requests && self.metadata.requires_bound_tokens
    }

    /// Is this a public client, one that cannot keep a secret?
    pub const fn is_public(&self) -> bool {
        matches!(self.authentication, ClientAuthentication::Public)
    }
}

/// How a client authenticates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// With a secret, in the form or by HTTP Basic. Many libraries try one and then the other, so every such
    /// client can use both.
    Secret {
        /// The method that was registered.
        method: SecretMethod,
        /// The hashes of its secrets.
        secrets: ClientSecrets,
    },
    /// With signatures by its keys, which are in its metadata or at its `jwks_uri`.
    Keys,
    /// Not at all. Such a client must use PKCE.
    Public,
}

impl ClientAuthentication {
    /// The registered name of the method.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Secret { method, .. } => method.name(),
            Self::Keys => AuthenticationMethod::PrivateKeyJwt.name(),
            Self::Public => AuthenticationMethod::None.name(),
        }
    }
}

/// Where a client said that it would send its secret.
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

/// The authentication methods that a client can register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationMethod {
    /// One of the methods with a secret.
    Secret(SecretMethod),
    /// Signatures by the client's keys.
    PrivateKeyJwt,
    /// None: a public client.
    None,
}

impl AuthenticationMethod {
    /// All methods that this server supports.
    pub const ALL: [Self; 4] = [
        Self::Secret(SecretMethod::Post),
        Self::Secret(SecretMethod::Basic),
        Self::PrivateKeyJwt,
        Self::None,
    ];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secret(method) => method.name(),
            Self::PrivateKeyJwt => "private_key_jwt",
            Self::None => "none",
        }
    }

    /// Parses a registered name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Who registered a client. The page says so if no one checked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOrigin {
    /// The client itself, over HTTP.
    SelfRegistered,
    /// The operator, at the terminal.
    Operator,
    /// No one: its id is the URL of the document that describes it.
    Document,
}

impl ClientOrigin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SelfRegistered, Self::Operator, Self::Document];

    /// The word in storage.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SelfRegistered => "self",
            Self::Operator => "operator",
            Self::Document => "document",
        }
    }

    /// Those of these scopes that a client of this origin can have. Who is in which group is the operator's
    /// knowledge, and goes only to clients that the operator chose.
    pub fn admitted(self, scopes: &ScopeSet) -> ScopeSet {
        match self {
            Self::Operator => scopes.clone(),
            Self::SelfRegistered | Self::Document => scopes.without(&ScopeSet::of(&[Scope::Groups])),
        }
    }

    /// Parses the word in storage.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }
}

impl UriOwner {
    /// The kind of a client that registers with this authentication method.
    pub const fn asking(origin: ClientOrigin, method: AuthenticationMethod) -> Self {
        match (method, origin) {
            (AuthenticationMethod::None, _) => Self::Public,
            (_, ClientOrigin::Document) => Self::Described,
            (_, ClientOrigin::Operator | ClientOrigin::SelfRegistered) => Self::Registered,
        }
    }

    /// The kind of a client that is known.
    pub const fn of(origin: ClientOrigin, authentication: &ClientAuthentication) -> Self {
        match (authentication, origin) {
            (ClientAuthentication::Public, _) => Self::Public,
            (_, ClientOrigin::Document) => Self::Described,
            (_, ClientOrigin::Operator | ClientOrigin::SelfRegistered) => Self::Registered,
        }
    }
}

/// The metadata of a client, as checked by [`crate::registration`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetadata {
    /// The name that people see.
    pub name: String,
    /// Where people can be sent back to: one to twenty URIs. Empty only for a client that never sends anyone
    /// here.
    pub redirect_uris: Vec<RedirectUri>,
    /// The scopes that the client can ask for.
    pub scopes: ScopeSet,
    /// The grant types that it can use.
    pub grant_types: Vec<GrantType>,
    /// Where it is notified, by a logout token, that a sign-in ended.
    pub backchannel_logout_uri: Option<String>,
    /// Must its requests be pushed (RFC 9126)?
    pub requires_pushed_requests: bool,
    /// Must its tokens be bound to a key (RFC 9449)?
    pub requires_bound_tokens: bool,
    /// Everything that is only stored, shown and returned.
    pub display: DisplayMetadata,
}

impl DisplayMetadata {
    /// The same with the lifetimes of another.
    #[must_use]
    pub fn with_lifetimes_of(self, other: &Self) -> Self {
        let mut all = RequestedMetadata { display: self, ..RequestedMetadata::default() };
        for field in ClientField::DISPLAY {
            if let (FieldSlot::Number(mine), Ok(FieldSaid::Number(theirs))) =
                (all.slot(*field), other.said(*field))
            {
                *mine = *theirs;
            }
        }
        all.display
    }
}

impl ClientMetadata {
    /// The total size of its texts, in bytes.
    pub fn size(&self) -> usize {
        let shown = ClientField::DISPLAY.iter().filter_map(|field| self.display.said(*field).ok());
        let shown = shown.map(|said| match said {
            FieldSaid::Text(text) => text.as_ref().map_or(0, String::len),
            FieldSaid::Truth(_) | FieldSaid::Number(_) => 0,
            FieldSaid::Texts(texts) => texts.iter().flatten().map(String::len).sum(),
            FieldSaid::Several(texts) => texts.iter().map(String::len).sum(),
        });
        let redirects = self.redirect_uris.iter().map(|uri| uri.as_str().len());
        let logout = self.backchannel_logout_uri.as_ref().map_or(0, String::len);
        self.name.len() + logout + shown.chain(redirects).sum::<usize>()
    }
}

/// The scopes of a client that names none, if its registration has only fields of the specification's section 4.1.
pub(crate) const USUAL_OF_SPECIFICATION: [Scope; 1] = [Scope::Profile];
/// The scopes of a client that an operator registers without naming any.
pub(crate) const USUAL_OF_OPERATORS: [Scope; 2] = [Scope::OpenId, Scope::Profile];
/// The scopes of every other client that names none.
pub(crate) const USUAL: [Scope; 3] = [Scope::OpenId, Scope::Profile, Scope::OfflineAccess];

/// Are these the scopes of a client that named none?
fn are_usual(scopes: &ScopeSet) -> bool {
    *scopes == ScopeSet::of(&USUAL) || *scopes == ScopeSet::of(&USUAL_OF_SPECIFICATION)
}
