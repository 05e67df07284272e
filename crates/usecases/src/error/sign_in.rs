//! What the outside is told about failures between an authorization request and its answer, and at signing out.

use countersign_domain::authorization::unknown_client;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, message};

use super::{Refuse, unavailable};
use crate::ProveKeyError;
use crate::begin_authorization::BeginAuthorizationError;
use crate::client_document::{DocumentRejected, FindClientError};
use crate::complete_login::CompleteLoginError;
use crate::continue_session::ContinueSessionError;
use crate::describe_sign_in::DescribeSignInError;
use crate::push_authorization::PushAuthorizationError;
use crate::recognize_account::RecognizeError;
use crate::sign_out::SignOutError;

impl Refuse for BeginAuthorizationError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::ShowPage(error) | Self::Redirect { error, .. } => error.clone(),
            Self::Document(rejected) => refused_document(rejected),
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

impl Refuse for FindClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Unknown => unknown_client(),
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

impl Refuse for RecognizeError {
    fn refusal(&self) -> OAuthError {
        OAuthError::new(Code::InvalidRequest, self.to_string())
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

fn refused_document(rejected: &DocumentRejected) -> OAuthError {
    OAuthError::new(Code::UnknownClient, format!("{}: {rejected}", message::INVALID_CLIENT_ID))
}
