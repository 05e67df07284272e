//! Grants: what one signature allowed.

use std::fmt;

use time::OffsetDateTime;

use crate::id::{ClientId, GrantId, SessionId, SubjectId, UserId};
use crate::pairwise::KnownAs;
use crate::particulars::Particulars;
use crate::pkce::CodeChallenge;
use crate::public_url::PublicUrl;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;
use crate::secret::SecretHash;
use crate::wallet::WalletAccount;

/// A grant as stored. Everything but the last two fields is fixed when the person signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its id, shared with the challenge and the code.
    pub id: GrantId,
    /// The client that it was given to.
    pub client: ClientId,
    /// Who holds the grant.
    pub holder: Holder,
    /// The URI that the code was sent to; `None` if no browser was redirected.
    pub redirect_uri: Option<RedirectUri>,
    /// The scopes that were granted.
    pub scope: ScopeSet,
    /// The `nonce` parameter of OpenID Connect.
    pub nonce: Option<String>,
    /// The PKCE challenge.
    pub code_challenge: Option<CodeChallenge>,
    /// Details that few grants have.
    pub particulars: Particulars,
    /// The remembered sign-in that it belongs to, if the browser keeps one.
    pub session: Option<SessionId>,
    /// The hash of the code.
    pub code_hash: SecretHash,
    /// When the wallet's signature was verified.
    pub authenticated_at: OffsetDateTime,
    /// When the code expires.
    pub code_expires_at: OffsetDateTime,
    /// Was the code redeemed?
    pub redeemed: bool,
    /// Was the grant revoked, with everything that came from it?
    pub revoked: bool,
}

impl Grant {
    /// A grant that a client gets for itself. No one signed, and no code leads to it. `code_hash` is the hash of
    /// a secret that no one has.
    pub fn of_client(
        now: OffsetDateTime,
        id: GrantId,
        client: ClientId,
        particulars: Particulars,
        code_hash: SecretHash,
    ) -> Self {
        Self {
            id,
            client,
            holder: Holder::Client,
            redirect_uri: None,
            scope: ScopeSet::default(),
            nonce: None,
            code_challenge: None,
            particulars,
            session: None,
            code_hash,
            authenticated_at: now,
            code_expires_at: now,
            redeemed: true,
            revoked: false,
        }
    }

    /// Does the grant answer a device? Its redirect URI is then a page of ours, which no client can register.
    pub fn is_of_device(&self, public_url: &PublicUrl) -> bool {
        self.redirect_uri == Some(RedirectUri::of_device(public_url))
    }

    /// The subject of the grant's tokens, for its client, which knows people in this way.
    pub fn subject(&self, known_as: &KnownAs) -> TokenSubject {
        match &self.holder {
            Holder::Person { user, .. } => TokenSubject::Person(known_as.subject(*user)),
            Holder::Client => TokenSubject::Client(self.client),
        }
    }
}

/// The holder of a grant and its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A person who signed.
    Person {
        /// The user.
        user: UserId,
        /// The wallet that signed.
        account: WalletAccount,
    },
    /// The grant's client, which got it for itself (RFC 6749 section 4.4).
    Client,
}

impl Holder {
    /// The person who signed; `None` if no one did.
    pub const fn user(&self) -> Option<UserId> {
        match self {
            Self::Person { user, .. } => Some(*user),
            Self::Client => None,
        }
    }

    /// The wallet that signed; `None` if none did.
    pub const fn account(&self) -> Option<&WalletAccount> {
        match self {
            Self::Person { account, .. } => Some(account),
            Self::Client => None,
        }
    }
}

/// The subject of a token (`sub`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenSubject {
    /// A person, as the client of the token knows them.
    Person(SubjectId),
    /// A client, by its own id.
    Client(ClientId),
}

impl fmt::Display for TokenSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(user) => user.fmt(f),
            Self::Client(client) => client.fmt(f),
        }
    }
}

/// Why a grant was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationReason {
    /// The client asked for it.
    ClientRequest,
    /// A used code was presented again.
    CodeReplayed,
    /// A wrong PKCE verifier came with the code.
    VerifierMismatch,
    /// A rotated refresh token was presented again.
    RefreshReused,
    /// The wallet that signed was unlinked from its user.
    WalletUnlinked,
    /// The user revoked the client's access.
    ConsentRevoked,
    /// The user was deleted.
    AccountDeleted,
    /// Another user signed than the client asked for.
    OtherUser,
    /// The person signed out, and had not agreed to access while they are away.
    SignedOut,
    /// The operator blocked the user or the wallet that signed.
    Blocked,
    /// The operator signed the user out.
    Operator,
}

impl RevocationReason {
    /// The word in storage and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientRequest => "client_request",
            Self::CodeReplayed => "code_replayed",
            Self::VerifierMismatch => "verifier_mismatch",
            Self::RefreshReused => "refresh_reused",
            Self::WalletUnlinked => "wallet_unlinked",
            Self::ConsentRevoked => "consent_revoked",
            Self::AccountDeleted => "account_deleted",
            Self::OtherUser => "other_user",
            Self::SignedOut => "signed_out",
            Self::Blocked => "blocked",
            Self::Operator => "operator",
        }
    }
}
