//! What the outside is told about each failure: one exhaustive match for each use-case.

use countersign_domain::authorization::unknown_client;
use countersign_domain::client_auth::ClientRejected;
use countersign_domain::code::CodeRejected;
use countersign_domain::device::DeviceRejected;
use countersign_domain::dpop::DpopRejected;
use countersign_domain::email::EmailRejected;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, message};
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::registration::RegistrationRejected;
use countersign_ports::StoreError;

use crate::begin_authorization::BeginAuthorizationError;
use crate::begin_device::BeginDeviceError;
use crate::begin_wallet_change::BeginWalletChangeError;
use crate::change_email::ChangeEmailError;
use crate::change_wallets::ChangeWalletsError;
use crate::client_document::{DocumentRejected, FindClientError};
use crate::complete_login::CompleteLoginError;
use crate::confirm_email::ConfirmEmailError;
use crate::continue_session::ContinueSessionError;
use crate::delete_client::DeleteClientError;
use crate::describe_sign_in::DescribeSignInError;
use crate::exchange_code::ExchangeCodeError;
use crate::exchange_device_code::ExchangeDeviceCodeError;
use crate::introspect_token::IntrospectTokenError;
use crate::issue_client_tokens::IssueClientTokensError;
use crate::login::AccountError;
use crate::push_authorization::PushAuthorizationError;
use crate::read_client::ReadClientError;
use crate::read_user_info::ReadUserInfoError;
use crate::recognize_account::RecognizeError;
use crate::refresh_tokens::RefreshTokensError;
use crate::register_client::RegisterClientError;
use crate::revoke_token::RevokeTokenError;
use crate::sign_in_program::{ProgramChallengeError, SignInProgramError};
use crate::sign_out::SignOutError;
use crate::update_client::UpdateClientError;
use crate::{AuthenticateClientError, MintError, ProveKeyError};

/// A failure that knows what the outside may hear of it.
pub trait Refuse: std::error::Error + 'static {
    /// The registered code and a sentence without anything of the inside.
    fn refusal(&self) -> OAuthError;
}

impl Refuse for StoreError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Unavailable(_) | Self::Overloaded => unavailable(),
            Self::Corrupt { .. } | Self::Failed(_) => server_error(),
        }
    }
}

impl Refuse for BeginAuthorizationError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::ShowPage(error) | Self::Redirect { error, .. } => error.clone(),
            Self::Document(rejected) => refused_document(rejected),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for DescribeSignInError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for FindClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Unknown => unknown_client(),
            Self::Document(rejected) => refused_document(rejected),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for SignOutError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::ClientUnknown => unknown_client(),
            Self::Hint | Self::OtherClient | Self::NotRegistered => {
                OAuthError::new(Code::InvalidRequest, self.to_string())
            }
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for RecognizeError {
    fn refusal(&self) -> OAuthError {
        OAuthError::new(Code::InvalidRequest, self.to_string())
    }
}

impl Refuse for EmailRejected {
    fn refusal(&self) -> OAuthError {
        OAuthError::new(Code::InvalidRequest, self.to_string())
    }
}

impl Refuse for AccountError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::SignedOut => OAuthError::new(Code::AccessDenied, "nobody is signed in here"),
            Self::SignedInLongAgo => OAuthError::new(
                Code::AccessDenied,
                "this needs a signature that is not older than ten minutes",
            ),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ChangeEmailError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Email(error) => error.refusal(),
            Self::Account(error) => error.refusal(),
        }
    }
}

impl Refuse for ConfirmEmailError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::LinkInvalid => OAuthError::new(Code::InvalidRequest, "this link is not valid any more"),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for ContinueSessionError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Email(error) => error.refusal(),
            Self::SessionEnded | Self::ConsentMissing => {
                OAuthError::new(Code::AccessDenied, "this request needs a signature")
            }
            Self::RequestSpent => OAuthError::new(Code::InvalidRequest, message::MISSING_SESSION),
            Self::Client(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for CompleteLoginError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Email(error) => error.refusal(),
            Self::Client(error) => error.refusal(),
            Self::Challenge(_) | Self::ChallengeSpent => {
                OAuthError::new(Code::AccessDenied, message::BAD_CHALLENGE)
            }
            Self::Signature(_) => OAuthError::new(Code::AccessDenied, message::BAD_SIGNATURE),
            Self::Verifier(_) => unavailable(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for BeginWalletChangeError {
    fn refusal(&self) -> OAuthError {
        OAuthError::new(Code::InvalidRequest, self.to_string())
    }
}

impl Refuse for ChangeWalletsError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Challenge(_) | Self::ChallengeSpent => {
                OAuthError::new(Code::AccessDenied, message::BAD_CHALLENGE)
            }
            Self::Signature(_) => OAuthError::new(Code::AccessDenied, message::BAD_SIGNATURE),
            Self::OtherSignature(_) => {
                OAuthError::new(Code::AccessDenied, format!("{} of the other wallet", message::BAD_SIGNATURE))
            }
            Self::SignerUnknown => OAuthError::new(Code::Conflict, "wallet_address has never signed in here"),
            Self::BelongsToAnother => {
                OAuthError::new(Code::Conflict, "the other wallet belongs to another user")
            }
            Self::NotTheirs => OAuthError::new(Code::Conflict, "the other wallet is not one of this user's"),
            Self::LastWallet => OAuthError::new(Code::Conflict, "the last wallet cannot be unlinked"),
            Self::Verifier(_) => unavailable(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for AuthenticateClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Rejected(ClientRejected::SecretMissing) => {
                OAuthError::new(Code::IncompleteForm, "client_secret is missing")
            }
            Self::Rejected(
                ClientRejected::Unknown
                | ClientRejected::SecretMismatch
                | ClientRejected::OtherMethod
                | ClientRejected::AssertionMissing
                | ClientRejected::AssertionRejected,
            ) => OAuthError::new(Code::InvalidClient, "client authentication failed"),
            Self::Store(error) => error.refusal(),
        }
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
            Self::OtherKey => OAuthError::new(Code::InvalidGrant, "this is bound to another key"),
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

impl Refuse for PushAuthorizationError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::Refused(error) => error.clone(),
            Self::Key(ProveKeyError::OtherKey) => {
                OAuthError::new(Code::InvalidRequest, "dpop_jkt is not the key of the DPoP proof")
            }
            Self::Key(error) => error.refusal(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for BeginDeviceError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::GrantTypeNotAllowed => grant_type_not_allowed(),
            Self::Refused(error) => error.clone(),
            Self::Crowded => unavailable(),
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
                "every scope tells about a person: a client that asks for itself leaves scope out",
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
            Self::Scope(_) | Self::ScopeNotRegistered => {
                OAuthError::new(Code::InvalidScope, "scope must name scopes that the client registered")
            }
            Self::Resource(error) => error.clone(),
            Self::ResourceUnfit => OAuthError::new(
                Code::InvalidTarget,
                "resource is too long for a text to sign, or begins with urn:countersign:",
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
                OAuthError::new(Code::InvalidGrant, message::BAD_CHALLENGE)
            }
            Self::Signature(_) => OAuthError::new(Code::InvalidGrant, message::BAD_SIGNATURE),
            Self::Resource(error) => error.clone(),
            Self::Verifier(_) => unavailable(),
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

impl Refuse for RevokeTokenError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Client(error) => error.refusal(),
            Self::OtherClient => OAuthError::new(Code::UnauthorizedClient, "token belongs to another client"),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for RegisterClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Rejected(rejected) => rejected_metadata(rejected),
            Self::Store(error) => error.refusal(),
            Self::IdTaken => server_error(),
        }
    }
}

impl Refuse for ReadClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::TokenInvalid => registration_token_invalid(),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for UpdateClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::TokenInvalid => registration_token_invalid(),
            Self::Rejected(rejected) => rejected_metadata(rejected),
            Self::MethodChange => OAuthError::new(Code::InvalidClientMetadata, self.to_string()),
            Self::OtherSecret => OAuthError::new(Code::InvalidRequest, self.to_string()),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for DeleteClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::TokenInvalid => registration_token_invalid(),
            Self::Store(error) => error.refusal(),
        }
    }
}

fn rejected_metadata(rejected: &RegistrationRejected) -> OAuthError {
    let code = match rejected {
        RegistrationRejected::Missing(_) => Code::InvalidRequest,
        RegistrationRejected::RedirectUriCount | RegistrationRejected::RedirectUri { .. } => {
            Code::InvalidRedirectUri
        }
        RegistrationRejected::Keys(_) | RegistrationRejected::Field { .. } => Code::InvalidClientMetadata,
    };
    OAuthError::new(code, rejected.to_string())
}

fn refused_document(rejected: &DocumentRejected) -> OAuthError {
    OAuthError::new(Code::UnknownClient, format!("{}: {rejected}", message::INVALID_CLIENT_ID))
}

fn registration_token_invalid() -> OAuthError {
    OAuthError::new(Code::InvalidToken, "registration access token is not valid for this client")
}

fn grant_type_not_allowed() -> OAuthError {
    OAuthError::new(Code::UnauthorizedClient, "the client did not register this grant type")
}

fn unavailable() -> OAuthError {
    OAuthError::new(Code::TemporarilyUnavailable, "the server cannot answer now; try again")
}

fn server_error() -> OAuthError {
    OAuthError::new(Code::ServerError, "something went wrong on our side")
}
