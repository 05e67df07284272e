//! What the outside is told about each failure: one exhaustive match for each use-case, by subject in files of their own.

mod account;
mod clients;
mod sign_in;
mod tokens;

use countersign_domain::error::{OAuthError, OAuthErrorCode as Code};
use countersign_ports::StoreError;

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

fn unavailable() -> OAuthError {
    OAuthError::new(Code::TemporarilyUnavailable, "the server cannot answer now; try again")
}

fn server_error() -> OAuthError {
    OAuthError::new(Code::ServerError, "something went wrong on our side")
}
