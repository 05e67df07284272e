//! An operator signs a user out everywhere, as if the user did so on every browser.

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::scope::Scope;
use countersign_ports::{Blocked, EndAccess, StoreError};

use super::{Ended, exists};
use crate::Management;

/// Why nobody is signed out.
#[derive(Debug, thiserror::Error)]
pub enum SignOutUserError {
    /// There is no such user.
    #[error("there is no such user")]
    UserUnknown,
    /// The sessions could not be ended.
    #[error("sessions could not be ended")]
    Store(#[from] StoreError),
}

/// Ends all sessions of a user and every grant, whether it was made in a session or not, except those to
/// which the user agreed for when they are away (`offline_access`).
pub async fn sign_out_user(management: Management<'_>, user: UserId) -> Result<Ended, SignOutUserError> {
    if !exists(management, user).await? {
        return Err(SignOutUserError::UserUnknown);
    }
    let command = EndAccess {
        who: Blocked::User(user),
        reason: RevocationReason::Operator,
        keeps: Some(Scope::OfflineAccess),
        now: management.clock.now(),
        event: None,
    };
    Ok(management.blocks.end_access(command).await?.into())
}
