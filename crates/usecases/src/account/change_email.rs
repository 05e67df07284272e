//! A signed-in person puts an e-mail address on file, or takes it off. A browser that remembers them is not enough: their wallet must have
//! signed lately.

use countersign_domain::email::{EmailAddress, EmailRejected};
use countersign_ports::{EmailPut, StoreError};

use crate::Context;
use crate::steps::file_email::{ConfirmationLink, Filed, file_email};
use crate::steps::login::{AccountError, Browser, require_recent_login};

/// Why nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeEmailError {
    /// What was given is no address.
    #[error(transparent)]
    Email(#[from] EmailRejected),
    /// Who asks may not.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<StoreError> for ChangeEmailError {
    fn from(error: StoreError) -> Self {
        Self::Account(error.into())
    }
}

/// What became of an address.
#[derive(Clone, Debug)]
pub struct EmailChanged {
    /// Was it confirmed before?
    pub already_verified: bool,
    /// What to mail.
    pub link: Option<ConfirmationLink>,
}

/// May whoever asks put an address on file? It is asked before a mail to the address is counted: a stranger must not use up the mails of
/// somebody else's mailbox (F-11).
pub async fn admit_email_change(context: &Context, browser: &Browser) -> Result<(), AccountError> {
    require_recent_login(context, browser).await.map(drop)
}

/// Puts an address on file, in place of another one. The same one again is mailed a new link.
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

/// Takes the address off file; the answer says whether there was one.
pub async fn remove_email(context: &Context, browser: &Browser) -> Result<bool, AccountError> {
    let user = require_recent_login(context, browser).await?.user;
    Ok(context.storage.remove_email(user).await?)
}
