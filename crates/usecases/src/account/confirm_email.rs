//! A person follows the link in a mail to confirm that the address is theirs. The link proves only who reads
//! the mail, not whose account it is for. So they must be signed in as the user who gave the address (F-10).

use countersign_domain::email::{EmailAddress, UserEmail};
use countersign_domain::event::EventKind;
use countersign_domain::id::UserId;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{ConfirmEmail, EmailConfirmed, SharedAddress, StoreError};

use crate::Context;
use crate::context::cause::Cause;
use crate::steps::login::{Browser, find_login};

/// Why nothing is confirmed.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmEmailError {
    /// Not our link, or it has expired, was used, or is for an address that is no longer on file.
    #[error("link is not valid any more")]
    LinkInvalid,
    /// No one is signed in on this browser, or another user is.
    #[error("user of the link is not signed in")]
    NotTheirs,
    /// Another user confirmed the same address, and the person does not know it yet.
    #[error("address is another user's too")]
    SharedAddress,
    /// The address could not be confirmed.
    #[error("e-mail address could not be confirmed")]
    Store(#[from] StoreError),
}

/// What a link is for. Only the holder of a valid link learns any of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOpened {
    /// The link is not valid.
    Invalid,
    /// For a user who is not signed in on this browser.
    ForAnother {
        /// That user's oldest wallet.
        wallet: WalletAccount,
        /// The wallet that is signed in instead, if any.
        signed_in_as: Option<WalletAccount>,
    },
    /// For the user who is signed in.
    Ask {
        /// The address that would be confirmed.
        address: EmailAddress,
        /// The wallet that signed in.
        wallet: WalletAccount,
    },
}

/// Looks at a link and changes nothing.
pub async fn open_link(
    context: &Context,
    browser: &Browser,
    secret: &Secret,
) -> Result<LinkOpened, StoreError> {
    let Some(user) = secret.id().map(UserId::from_uuid) else { return Ok(LinkOpened::Invalid) };
    let on_file = context.storage.find_email(user).await?.and_then(UserEmail::if_usable);
    let now = context.clock.now();
    let is_good =
        |email: &UserEmail| email.confirmation.as_ref().is_some_and(|link| link.admits(now, secret));
    let Some(UserEmail { address, .. }) = on_file.filter(is_good) else { return Ok(LinkOpened::Invalid) };
    let session = find_login(context, browser.login.as_ref()).await?;
    let signed_in_as = match session {
        Some(session) if session.user == user => {
            return Ok(LinkOpened::Ask { address, wallet: session.account });
        }
        other => other.map(|session| session.account),
    };
    let wallet = context.storage.wallets_of(user).await?.into_iter().next();
    Ok(wallet.map_or(LinkOpened::Invalid, |wallet| LinkOpened::ForAnother {
        wallet: wallet.account,
        signed_in_as,
    }))
}

/// Confirms the address that a link was mailed to, for the user who is signed in.
pub async fn confirm_email(
    context: &Context,
    cause: &Cause,
    browser: &Browser,
    secret: &Secret,
    shared: SharedAddress,
) -> Result<(), ConfirmEmailError> {
    match open_link(context, browser, secret).await? {
        LinkOpened::Invalid => return Err(ConfirmEmailError::LinkInvalid),
        LinkOpened::ForAnother { .. } => return Err(ConfirmEmailError::NotTheirs),
        LinkOpened::Ask { .. } => {}
    }
    let now = context.clock.now();
    let user = UserId::from_uuid(secret.id().ok_or(ConfirmEmailError::LinkInvalid)?);
    let event = context.event(now, cause, EventKind::EmailConfirmed, |_| {});
    let command = ConfirmEmail { user, hash: SecretHash::of(secret), shared, now, event };
    match context.storage.confirm_email(command).await? {
        EmailConfirmed::Confirmed => {
            tracing::info!(user.id = %user, "e-mail address confirmed");
            Ok(())
        }
        EmailConfirmed::LinkInvalid => Err(ConfirmEmailError::LinkInvalid),
        EmailConfirmed::SharedAddress => Err(ConfirmEmailError::SharedAddress),
    }
}
