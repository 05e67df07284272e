//! What callers learn when changing an account fails.

use countersign_domain::email::EmailRejected;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::refusal::RefusedFor;

use super::{Refuse, unavailable};
use crate::account::begin_wallet_change::BeginWalletChangeError;
use crate::account::change_email::ChangeEmailError;
use crate::account::change_wallets::ChangeWalletsError;
use crate::account::confirm_email::ConfirmEmailError;
use crate::account::rename_wallet::RenameWalletError;
use crate::steps::admit::refused_by_server;
use crate::steps::login::AccountError;

impl Refuse for AccountError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::SignedOut => {
                OAuthError::new(Code::AccessDenied, "no one is signed in here").logged_as(RefusedFor::Ended)
            }
            Self::SignedInLongAgo => OAuthError::new(
                Code::AccessDenied,
                "this needs a signature that is not older than ten minutes",
            )
            .logged_as(RefusedFor::Ended),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for EmailRejected {
    fn refusal(&self) -> OAuthError {
        OAuthError::new(Code::InvalidRequest, self.to_string())
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
            Self::LinkInvalid => OAuthError::new(Code::InvalidRequest, "this link is no longer valid"),
            Self::NotTheirs => OAuthError::new(
                Code::AccessDenied,
                "the person that the link was mailed to is not signed in here: sign in with their wallet first",
            ),
            Self::SharedAddress => OAuthError::new(
                Code::Conflict,
                "another account here has confirmed this address: confirm it for this one too with shared=yes",
            ),
            Self::Store(error) => error.refusal(),
        }
    }
}

impl Refuse for RenameWalletError {
    fn refusal(&self) -> OAuthError {
        match self {
            Self::Name(_) => OAuthError::new(Code::InvalidRequest, self.to_string()),
            Self::NotTheirs => OAuthError::new(
                Code::Conflict,
                "wallet_account and kind must name one of this user's wallets",
            ),
            Self::Account(error) => error.refusal(),
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
                OAuthError::because(Code::AccessDenied, Reason::Challenge)
            }
            Self::Signature(_) => OAuthError::because(Code::AccessDenied, Reason::Signature),
            Self::OtherSignature(_) => OAuthError::new(
                Code::AccessDenied,
                format!("{} of the other wallet", Reason::Signature.message()),
            )
            .logged_as(RefusedFor::Signature),
            Self::NotAdmitted => refused_by_server().logged_as(RefusedFor::Blocked),
            Self::SignerUnknown => OAuthError::new(Code::Conflict, "wallet_address has never signed in here"),
            Self::BelongsToAnother => {
                OAuthError::new(Code::Conflict, "the other wallet belongs to another user")
            }
            Self::TooMany { most } => OAuthError::new(
                Code::Conflict,
                format!("this user has as many wallets as a user may have ({most}): unlink one first"),
            ),
            Self::NotTheirs => OAuthError::new(Code::Conflict, "the other wallet is not one of this user's"),
            Self::LastWallet => OAuthError::new(Code::Conflict, "the last wallet cannot be unlinked"),
            Self::Verifier(_) => unavailable(),
            Self::Store(error) => error.refusal(),
        }
    }
}
