//! What callers are told when a request for or about tokens fails.

use countersign_domain::authorization::unknown_client;
use countersign_domain::code::CodeRejected;
use countersign_domain::device::DeviceRejected;
use countersign_domain::dpop::DpopRejected;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::refresh::RefreshRejected;

use super::{Refuse, server_error, unavailable};
use crate::tokens::exchange_code::ExchangeCodeError;
use crate::tokens::exchange_device_code::ExchangeDeviceCodeError;
use crate::tokens::introspect_token::IntrospectTokenError;
use crate::tokens::issue_client_tokens::IssueClientTokensError;
use crate::tokens::read_user_info::ReadUserInfoError;
use crate::tokens::refresh_tokens::RefreshTokensError;
use crate::tokens::revoke_token::RevokeTokenError;
use crate::tokens::sign_in_program::{ProgramChallengeError, SignInProgramError};
use crate::{MintError, ProveKeyError};

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
            Self::OtherKey => OAuthError::new(Code::InvalidGrant, "this is bound to a different key"),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for MintError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Signer(_) => server_error(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ExchangeCodeError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Rejected(
                CodeRejected::Unknown
                | CodeRejected::OtherClient
                | CodeRejected::OfDevice
                | CodeRejected::Replayed
                | CodeRejected::Revoked
                | CodeRejected::RedirectMismatch
                | CodeRejected::Expired
                | CodeRejected::VerifierMismatch
                | CodeRejected::VerifierUnexpected,
            ) => OAuthError::new(Code::InvalidGrant, "authorization code is not valid"),
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
                OAuthError::new(Code::AuthorizationPending, "nobody has answered the device yet")
            }
            Self::Rejected(DeviceRejected::Denied) => {
                OAuthError::new(Code::DeviceDenied, "the person denied the request")
            }
            Self::Rejected(DeviceRejected::Expired)
            | Self::Grant(ExchangeCodeError::Rejected(CodeRejected::Expired)) => {
                OAuthError::new(Code::ExpiredToken, "the device code has expired; begin again")
            }
            Self::Rejected(DeviceRejected::Unknown | DeviceRejected::OtherClient)
            | Self::Grant(ExchangeCodeError::Rejected(_)) => {
                OAuthError::new(Code::InvalidGrant, "device code is not valid")
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
            Self::ScopeOfAPerson => OAuthError::new(
                Code::InvalidScope,
                "every scope is about a person: leave scope out for a token for the client itself",
            ),
            Self::Resource(error) => error.clone(),
            Self::ClientGone => OAuthError::new(Code::InvalidClient, "client authentication failed"),
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
            Self::Scope(error) | Self::Resource(error) => error.clone(),
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
            Self::Rejected(RefreshRejected::ScopeWidened) | Self::Scope(_) => {
                OAuthError::new(Code::InvalidScope, "scope goes beyond what was granted")
            }
            Self::Rejected(
                RefreshRejected::Unknown
                | RefreshRejected::OtherClient
                | RefreshRejected::Revoked
                | RefreshRejected::Reused
                | RefreshRejected::Expired,
            ) => OAuthError::new(Code::InvalidGrant, "refresh token is not valid"),
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
            Self::TokenInvalid => {
                OAuthError::new(Code::InvalidToken, "access token is unknown, expired or revoked")
            }
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

pub(super) fn grant_type_not_allowed() -> OAuthError {
    OAuthError::new(Code::UnauthorizedClient, "the client did not register this grant type")
}
