//! What callers learn about each failure: one exhaustive match for each use-case, with a file for each
//! subject.

mod account;
mod clients;
mod sign_in;
mod tokens;

use countersign_domain::error::{OAuthError, OAuthErrorCode as Code};
use countersign_ports::StoreError;

/// A failure that knows what callers may learn about it.
pub trait Refuse: std::error::Error + 'static {
    /// The registered error code, and a sentence that reveals nothing internal.
    fn refusal(&self) -> OAuthError;
}

impl Refuse for StoreError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Unavailable(_) | Self::Overloaded => unavailable(),
            Self::Corrupt { .. } | Self::SignerSuspended | Self::Failed(_) => server_error(),
        }
    }
}

fn unavailable() -> OAuthError {
    OAuthError::new(Code::TemporarilyUnavailable, "the server cannot answer now; try again")
}

fn server_error() -> OAuthError {
    OAuthError::new(Code::ServerError, "something went wrong on our side")
}
