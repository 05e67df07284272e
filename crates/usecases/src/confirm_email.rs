//! Somebody follows the link in a mail: the address is theirs. They need not be signed in: the mail may be read on another
//! device.

use countersign_domain::id::UserId;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{ConfirmEmail, StoreError};

use crate::Context;

/// Why nothing is confirmed.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmEmailError {
    /// Not a link of ours, or one that is too old, used, or for an address that is not on file any more.
    #[error("link is not valid any more")]
    LinkInvalid,
    /// The address could not be confirmed.
    #[error("e-mail address could not be confirmed")]
    Store(#[from] StoreError),
}

/// Confirms the address that a link was mailed to.
pub async fn confirm_email(context: &Context, secret: &Secret) -> Result<(), ConfirmEmailError> {
    let now = context.clock.now();
    let user = UserId::from_uuid(secret.id().ok_or(ConfirmEmailError::LinkInvalid)?);
    let command = ConfirmEmail { user, hash: SecretHash::of(secret), now };
    if context.storage.confirm_email(command).await? {
        tracing::info!(user.id = %user, "e-mail address confirmed");
        Ok(())
    } else {
        Err(ConfirmEmailError::LinkInvalid)
    }
}
