//! What callers learn when a request for or about tokens fails.

use countersign_domain::authorization::unknown_client;
use countersign_domain::code::CodeRejected;
use countersign_domain::device::DeviceRejected;
use countersign_domain::dpop::DpopRejected;
use countersign_domain::error::{CLIENT_NOT_BELIEVED, OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::refusal::RefusedFor;

use super::{Refuse, server_error, unavailable};
use crate::steps::admit::refused_by_client;
use crate::tokens::exchange_code::ExchangeCodeError;
use crate::tokens::exchange_device_code::ExchangeDeviceCodeError;
use crate::tokens::introspect_token::IntrospectTokenError;
use crate::tokens::issue_client_tokens::IssueClientTokensError;
use crate::tokens::read_user_info::ReadUserInfoError;
use crate::tokens::refresh_tokens::RefreshTokensError;
use crate::tokens::revoke_token::RevokeTokenError;
use crate::tokens::sign_in_program::{ProgramChallengeError, SignInProgramError};
use crate::{MintError, ProveKeyError};

/// What everyone hears of a code that is not good. It names what can be wrong, and not which of it is.
const CODE_INVALID: &str = "authorization code is not valid: it is unknown here, was used or revoked before, or belongs to another \
                            client or code_verifier; begin a new sign-in, and send its code once";

/// The same of a refresh token.
const REFRESH_TOKEN_INVALID: &str = "refresh token is not valid: it is unknown here, has expired, was revoked, belongs to another \
                                     client, or was used before; each refresh gives a new one, which takes its place";

/// What everyone hears where no tokens are made any more, whatever led to them.
const NO_TOKENS: &str = "grant is not valid any more: begin a new sign-in";

/// What a caller who may know it learns about a code.
const fn text_of_code(shown: CodeRejected) -> &'static str {
    match shown {
        CodeRejected::Malformed => {
            "code does not look like a code of this server: send all of it, decoded once from the redirect URI's query"
        }
        CodeRejected::Unknown => {
            "authorization code is unknown here: it is another server's, or it was changed on its way"
        }
        CodeRejected::OtherClient => {
            "authorization code was issued to another client: send the client_id of the authorization request"
        }
        CodeRejected::Replayed => {
            "authorization code was used before: send it once; the tokens that came from it are now revoked"
        }
        CodeRejected::OfDevice => {
            "this is the code of a device: send it as device_code, with \
             grant_type=urn:ietf:params:oauth:grant-type:device_code"
        }
        CodeRejected::Revoked | CodeRejected::NotAdmitted => {
            "authorization code was revoked, by an earlier attempt without its code_verifier, by the person or \
             because the person is not admitted any more: begin a new sign-in"
        }
        CodeRejected::RedirectMismatch => {
            "redirect_uri is not the one that the code was sent to: send exactly that of the authorization request"
        }
        CodeRejected::Expired => "authorization code has expired: exchange it as soon as it arrives",
        CodeRejected::VerifierMissing => {
            "code_verifier is missing: begin a new sign-in, and send the text whose SHA-256 was its code_challenge"
        }
        CodeRejected::VerifierMalformed => {
            "code_verifier must be 43 to 128 characters of letters, digits and -._~: begin a new sign-in with such a one"
        }
        CodeRejected::VerifierMismatch => {
            "code_verifier does not match the code_challenge, which must be the base64url of its SHA-256 without \
             padding: begin a new sign-in"
        }
        CodeRejected::VerifierUnexpected => {
            "code_verifier was sent, but the authorization request had no code_challenge: send both or neither"
        }
    }
}

/// What a caller who may know it learns about a refresh token.
const fn text_of_refresh_token(shown: RefreshRejected) -> &'static str {
    match shown {
        RefreshRejected::OtherToken => {
            "this is an access token or an ID token: send the refresh_token of the token response"
        }
        RefreshRejected::Unknown => {
            "refresh token is unknown here: it is another server's, or it was changed on its way"
        }
        RefreshRejected::OtherClient => {
            "refresh token was issued to another client: send the client_id that got it"
        }
        RefreshRejected::Revoked | RefreshRejected::NotAdmitted => {
            "refresh token was revoked, the person withdrew the consent, or is not admitted any more: begin a new \
             sign-in"
        }
        RefreshRejected::Reused => {
            "refresh token was used before, so its whole family is now revoked: keep the refresh_token of each answer, \
             and refresh once at a time"
        }
        RefreshRejected::Expired => "refresh token has expired: begin a new sign-in",
        RefreshRejected::ScopeWidened => {
            "scope goes beyond what was granted: ask for less, or begin a new sign-in"
        }
    }
}

/// What the log calls a refused code.
const fn log_of_code(why: CodeRejected) -> RefusedFor {
    match why {
        CodeRejected::Malformed
        | CodeRejected::Unknown
        | CodeRejected::OtherClient
        | CodeRejected::Replayed
        | CodeRejected::OfDevice
        | CodeRejected::RedirectMismatch
        | CodeRejected::VerifierMissing
        | CodeRejected::VerifierMalformed
        | CodeRejected::VerifierMismatch
        | CodeRejected::VerifierUnexpected => RefusedFor::Code,
        CodeRejected::Revoked | CodeRejected::NotAdmitted | CodeRejected::Expired => RefusedFor::Ended,
    }
}

/// What the log calls a refused refresh token.
const fn log_of_refresh_token(why: RefreshRejected) -> RefusedFor {
    match why {
        RefreshRejected::OtherToken
        | RefreshRejected::Unknown
        | RefreshRejected::OtherClient
        | RefreshRejected::Reused => RefusedFor::RefreshToken,
        RefreshRejected::Revoked | RefreshRejected::NotAdmitted | RefreshRejected::Expired => {
            RefusedFor::Ended
        }
        RefreshRejected::ScopeWidened => RefusedFor::Scope,
    }
}

impl Refuse for ProveKeyError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Missing => OAuthError::new(Code::InvalidRequest, "DPoP proof is missing"),
            Self::Claims(DpopRejected::UseNonce) => {
                OAuthError::new(Code::UseDpopNonce, "DPoP proof needs the nonce of the header DPoP-Nonce")
            }
            Self::Signature(_) => {
                OAuthError::new(Code::InvalidDpopProof, "DPoP proof is not signed by the key in its header")
            }
            Self::Payload | Self::Claims(_) | Self::Replayed => {
                OAuthError::new(Code::InvalidDpopProof, self.to_string())
            }
            Self::OtherKey => OAuthError::new(Code::InvalidGrant, "this is bound to a different key")
                .logged_as(RefusedFor::Proof),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for MintError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Signer(_) => server_error(),
            Self::NotAdmitted => {
                OAuthError::new(Code::InvalidGrant, NO_TOKENS).logged_as(RefusedFor::NotAdmitted)
            }
            Self::TooManyGroups => OAuthError::new(
                Code::InvalidScope,
                "the groups of this user do not fit into a token: ask without the scope groups, or tell the operator",
            ),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ExchangeCodeError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Rejected { why, shown } => {
                OAuthError::new(Code::InvalidGrant, shown.map_or(CODE_INVALID, text_of_code))
                    .logged_as(log_of_code(*why))
            }
            Self::Resource(error) => error.clone(),
            Self::Key(error) => error.refusal(),
            Self::Mint(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ExchangeDeviceCodeError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Rejected(DeviceRejected::Pending) => {
                OAuthError::new(Code::AuthorizationPending, "no one has answered the device yet")
            }
            Self::Rejected(DeviceRejected::Denied) => {
                OAuthError::new(Code::DeviceDenied, "the person denied the request")
            }
            Self::Rejected(DeviceRejected::Expired)
            | Self::Grant(ExchangeCodeError::Rejected { why: CodeRejected::Expired, .. }) => {
                OAuthError::new(Code::ExpiredToken, "the device code has expired; begin again")
            }
            Self::Rejected(DeviceRejected::Unknown | DeviceRejected::OtherClient) => {
                device_code_invalid().logged_as(RefusedFor::Code)
            }
            Self::Grant(ExchangeCodeError::Rejected { why, .. }) => {
                device_code_invalid().logged_as(log_of_code(*why))
            }
            Self::Grant(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for IssueClientTokensError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Resource(error) => error.clone(),
            Self::ClientGone => OAuthError::new(Code::InvalidClient, CLIENT_NOT_BELIEVED),
            Self::IdTaken => server_error(),
            Self::Key(error) => error.refusal(),
            Self::Mint(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ProgramChallengeError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::ClientUnknown => unknown_client(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Account(error) => error.refusal(),
            Self::Resource(error) => error.clone(),
            Self::ScopeUnfit => OAuthError::new(
                Code::InvalidScope,
                "the scopes are too long to stand together in a text that people sign: ask for fewer",
            ),
            Self::ResourceUnfit => OAuthError::new(
                Code::InvalidTarget,
                "the resources are too long to stand together in a text that people sign",
            ),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for SignInProgramError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::NotOurs | Self::Expired | Self::Spent => {
                OAuthError::because(Code::InvalidGrant, Reason::Challenge)
            }
            Self::Signature(_) => OAuthError::because(Code::InvalidGrant, Reason::Signature),
            Self::NotAdmitted(why) => refused_by_client().logged_as(why.refused_for()),
            Self::Resource(error) => error.clone(),
            Self::Verifier(_) => unavailable(),
            Self::Key(error) => error.refusal(),
            Self::Mint(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for RefreshTokensError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Rejected { why: RefreshRejected::ScopeWidened, .. } | Self::Scope(_) => OAuthError::new(
                Code::InvalidScope,
                "scope goes beyond what was granted: ask for less, or begin a new sign-in",
            ),
            Self::Rejected { why, shown } => OAuthError::new(
                Code::InvalidGrant,
                shown.map_or(REFRESH_TOKEN_INVALID, text_of_refresh_token),
            )
            .logged_as(log_of_refresh_token(*why)),
            Self::Contended => unavailable(),
            Self::Resource(error) => error.clone(),
            Self::Key(error) => error.refusal(),
            Self::Mint(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for IntrospectTokenError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::PublicClient => {
                OAuthError::new(Code::InvalidClient, "only clients with credentials may introspect")
            }
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for RevokeTokenError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::OtherClient => OAuthError::new(Code::UnauthorizedClient, "token belongs to another client"),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ReadUserInfoError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::TokenInvalid => OAuthError::new(
                Code::InvalidToken,
                "access token is unknown, expired or revoked: send the access_token of the newest token response",
            ),
            Self::ScopeInsufficient => {
                OAuthError::new(Code::InsufficientScope, "access token lacks scope profile")
            }
            Self::Key(ProveKeyError::OtherKey) => {
                OAuthError::new(Code::InvalidToken, "access token is bound to another key")
            }
            Self::Key(ProveKeyError::Missing) => {
                OAuthError::new(Code::InvalidDpopProof, "DPoP proof is missing")
            }
            Self::Key(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

fn device_code_invalid() -> OAuthError {
    OAuthError::new(Code::InvalidGrant, "device code is not valid")
}

pub(super) fn grant_type_not_allowed() -> OAuthError {
    OAuthError::new(
        Code::UnauthorizedClient,
        "the client did not register this grant type: add it to its grant_types",
    )
}
