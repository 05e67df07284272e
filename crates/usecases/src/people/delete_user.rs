//! An operator deletes a user, as users can do themselves.

use countersign_domain::event::Pseudonym;
use countersign_domain::id::UserId;
use countersign_ports::{DeleteAccount, EntropyExt, StoreError};

use crate::Management;
use crate::steps::notify_logout::{LogoutNotice, notices};

/// Why nobody is deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteUserError {
    /// There is no such user.
    #[error("there is no such user")]
    UserUnknown,
    /// The user could not be deleted.
    #[error("user could not be deleted")]
    Store(#[from] StoreError),
}

/// Deletes a user with everything that is theirs. The answer says which clients to tell. If the user is
/// blocked, each of their wallets is blocked from then on.
pub async fn delete_user(
    management: Management<'_>,
    user: UserId,
) -> Result<Vec<LogoutNotice>, DeleteUserError> {
    let told = notices(management.storage, user, None).await?;
    let command = DeleteAccount {
        user,
        now: management.clock.now(),
        pseudonym: Pseudonym::new(management.entropy.bytes()),
        event: None,
    };
    if !management.storage.delete_account(command).await? {
        return Err(DeleteUserError::UserUnknown);
    }
    Ok(told)
}
