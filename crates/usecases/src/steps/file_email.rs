//! Puts an e-mail address on file. Signing in, continuing and the account page share this.

use countersign_domain::email::{EmailAddress, EmailConfirmation};
use countersign_domain::id::UserId;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EmailPut, EntropyExt, PutEmail, StoreError};

use crate::Context;

/// A link to mail; following it confirms the address.
#[derive(Clone, Debug)]
pub struct ConfirmationLink {
    /// The address to mail it to.
    pub to: EmailAddress,
    /// The secret in the link.
    pub secret: Secret,
}

impl ConfirmationLink {
    /// The whole address of the link.
    pub fn url(&self, context: &Context) -> String {
        format!("{}?token={}", context.policy.public_url.join("/account/email/confirm"), self.secret.expose())
    }
}

/// What happened to an address.
#[derive(Clone, Debug)]
pub(crate) struct Filed {
    pub(crate) outcome: EmailPut,
    /// The link to mail, if mail can be sent and there is something to confirm.
    pub(crate) link: Option<ConfirmationLink>,
}

/// Puts an address on file for a user.
pub(crate) async fn file_email(
    context: &Context,
    user: UserId,
    address: EmailAddress,
    replace: bool,
) -> Result<Filed, StoreError> {
    let now = context.clock.now();
    let secret = context.mailer.is_some().then(|| Secret::with_id(user.as_uuid(), context.entropy.bytes()));
    let confirmation = secret.as_ref().map(|secret| EmailConfirmation {
        hash: SecretHash::of(secret),
        expires_at: now + Lifetimes::EMAIL_CONFIRMATION,
    });
    let command = PutEmail { user, address: address.clone(), confirmation, replace, now };
    let outcome = context.storage.put_email(command).await?;
    let link =
        secret.filter(|_| outcome == EmailPut::Stored).map(|secret| ConfirmationLink { to: address, secret });
    Ok(Filed { outcome, link })
}

/// Puts the address on file that a person gave while signing in, if they have none. The sign-in is already
/// done, so an error here does not make it fail.
pub(crate) async fn file_first_email(
    context: &Context,
    user: UserId,
    address: Option<EmailAddress>,
) -> Option<ConfirmationLink> {
    match file_email(context, user, address?, false).await {
        Ok(filed) => filed.link,
        Err(error) => {
            tracing::error!(user.id = %user, %error, "e-mail address could not be put on file");
            None
        }
    }
}
