//! A signed-in person puts an e-mail address on file, or removes it. It is not enough that the browser
//! remembers them: their wallet must have signed recently.

use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_ports::{EmailPut, StoreError};

use crate::Context;
use crate::steps::file_email::{ConfirmationLink, Filed, file_email};
use crate::steps::login::{AccountError, Browser, require_recent_login};

/// Why nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeEmailError {
    /// The text is not an e-mail address.
    #[error(transparent)]
    Email(#[from] EmailRejected),
    /// The person may not change it, or their account could not be read.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<StoreError> for ChangeEmailError {
    fn from(error: StoreError) -> Self {
        Self::Account(error.into())
    }
}

/// What happened to an address.
#[derive(Clone, Debug)]
pub struct EmailChanged {
    /// Was it confirmed before?
    pub already_verified: bool,
    /// The link to mail, if mail can be sent and the address is not confirmed yet.
    pub link: Option<ConfirmationLink>,
}

/// Checks whether the person may put an address on file. This comes before a mail to the address is counted:
/// strangers must not use up the mails that another person's mailbox may get (F-11).
pub async fn admit_email_change(context: &Context, browser: &Browser) -> Result<(), AccountError> {
    require_recent_login(context, browser).await.map(drop)
}

/// Puts an address on file, in place of any other. The same address again gets a new link, unless it is
/// confirmed.
pub async fn put_email(
    context: &Context,
    browser: &Browser,
    address: &str,
) -> Result<EmailChanged, ChangeEmailError> {
    let user = require_recent_login(context, browser).await?.user;
    let Filed { outcome, link } = file_email(context, user, EmailAddress::parse(address)?, true).await?;
    match outcome {
        EmailPut::Stored | EmailPut::OtherOnFile => Ok(EmailChanged { already_verified: false, link }),
        EmailPut::AlreadyVerified => Ok(EmailChanged { already_verified: true, link }),
        EmailPut::UserUnknown => Err(AccountError::SignedOut.into()),
    }
}

/// Removes the address. The answer says whether there was one.
pub async fn remove_email(context: &Context, browser: &Browser) -> Result<bool, AccountError> {
    let user = require_recent_login(context, browser).await?.user;
    Ok(context.storage.remove_email(user).await?)
}
