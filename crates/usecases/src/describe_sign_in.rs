//! What the page tells a person before they sign.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::redirect_uri::Destination;
use countersign_ports::StoreError;

use crate::Context;

/// What the page shows of one pending authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// The client's name; anyone can choose one.
    pub client_name: String,
    /// The client's home page.
    pub client_uri: Option<String>,
    /// Did nobody look at this client?
    pub self_registered: bool,
    /// Where the sign-in leads.
    pub destination: Destination,
}

/// Why the page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum DescribeSignInError {
    /// The client was removed meanwhile.
    #[error("client is not registered any more")]
    ClientUnknown,
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Describes a pending authorization.
pub async fn describe_sign_in(
    context: &Context,
    pending: &PendingAuthorization,
) -> Result<SignIn, DescribeSignInError> {
    let client =
        context.storage.find_client(pending.client).await?.ok_or(DescribeSignInError::ClientUnknown)?;
    let Client { metadata, origin, .. } = client;
    Ok(SignIn {
        client_name: metadata.name,
        client_uri: metadata.display.client_uri,
        self_registered: origin == ClientOrigin::SelfRegistered,
        destination: pending.redirect_uri.destination(),
    })
}
