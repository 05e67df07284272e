//! What callers learn when something fails between an authorization request and its answer, or at sign-out.

use countersign_domain::authorization::unknown_client;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::refusal::RefusedFor;

use super::clients::refused_document;
use super::tokens::grant_type_not_allowed;
use super::{Refuse, unavailable};
use crate::ProveKeyError;
use crate::sign_in::begin_authorization::BeginAuthorizationError;
use crate::sign_in::begin_device::BeginDeviceError;
use crate::sign_in::complete_login::CompleteLoginError;
use crate::sign_in::continue_session::ContinueSessionError;
use crate::sign_in::describe_sign_in::DescribeSignInError;
use crate::sign_in::push_authorization::PushAuthorizationError;
use crate::sign_in::sign_out::SignOutError;
use crate::steps::recognize_account::RecognizeError;
use crate::steps::token_access::nothing_is_left;

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
            Self::ScopesWithheld => nothing_is_left(),
            Self::SessionEnded | Self::ConsentMissing => {
                OAuthError::new(Code::AccessDenied, "this request needs a signature")
                    .logged_as(RefusedFor::Ended)
            }
            Self::NotAdmitted(not_admitted) => not_admitted.refusal(),
            Self::RequestSpent => OAuthError::because(Code::InvalidRequest, Reason::MissingSession),
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
                OAuthError::because(Code::AccessDenied, Reason::Challenge)
            }
            Self::Signature(_) => OAuthError::because(Code::AccessDenied, Reason::Signature),
            Self::ScopesWithheld => nothing_is_left(),
            Self::NotAdmitted(not_admitted) => not_admitted.refusal(),
            Self::Invitation(refused) => OAuthError::new(Code::NotAdmitted, refused.to_string()),
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
