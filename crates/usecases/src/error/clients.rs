//! What callers learn when a client cannot be found, authenticated, registered or changed.

use countersign_domain::authorization::unknown_client;
use countersign_domain::client_auth::ClientRejected;
use countersign_domain::error::{CLIENT_NOT_BELIEVED, OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::refusal::RefusedFor;
use countersign_domain::registration::RegistrationRejected;

use super::{Refuse, server_error};
use crate::clients::delete_client::DeleteClientError;
use crate::clients::read_client::ReadClientError;
use crate::clients::register_client::RegisterClientError;
use crate::clients::update_client::UpdateClientError;
use crate::{AuthenticateClientError, DocumentRejected, FindClientError};

impl Refuse for AuthenticateClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Rejected { why: ClientRejected::SecretMissing, .. } => {
                OAuthError::new(Code::IncompleteForm, "client_secret is missing")
            }
            Self::Rejected { shown: Some(shown), .. } => {
                OAuthError::new(Code::InvalidClient, format!("client authentication failed: {shown}"))
            }
            Self::Rejected { shown: None, .. } => OAuthError::new(Code::InvalidClient, CLIENT_NOT_BELIEVED),
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

impl Refuse for RegisterClientError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Rejected(rejected) => rejected_metadata(rejected),
            Self::Store(error) => error.refusal(),
            Self::IdTaken | Self::MadeBefore => server_error(),
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
        RegistrationRejected::Name(_)
        | RegistrationRejected::Keys(_)
        | RegistrationRejected::Scope { .. }
        | RegistrationRejected::Lifetime { .. }
        | RegistrationRejected::Sector(_)
        | RegistrationRejected::Field { .. } => Code::InvalidClientMetadata,
    };
    OAuthError::new(code, rejected.to_string())
}

fn registration_token_invalid() -> OAuthError {
    OAuthError::new(Code::InvalidToken, "registration access token is not valid for this client")
        .logged_as(RefusedFor::RegistrationToken)
}

pub(super) fn refused_document(rejected: &DocumentRejected) -> OAuthError {
    OAuthError::new(Code::UnknownClient, format!("{}: {rejected}", Reason::UnknownClient.message()))
}
