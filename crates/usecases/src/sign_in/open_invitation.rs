//! A person opens the link of an invitation. Nothing is spent by that.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::invitation::{Invitation, InvitationState};
use countersign_domain::registration::is_web_address;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::StoreError;

use crate::Context;

/// The length of what a link contains.
const SECRET_LENGTH: usize = 43;

/// An invitation that was found, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// Can people come in by it now?
    pub state: InvitationState,
    /// The application that people go on to, if it is there.
    pub leads_to: Option<LeadsTo>,
}

/// An application that an invitation leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadsTo {
    /// Its name.
    pub name: String,
    /// Its home page, where people begin to sign in. Only an operator's client has one here.
    pub uri: Option<String>,
}

/// Finds the invitation of a link.
pub async fn open_invitation(
    context: &Context,
    secret: &Secret,
) -> Result<Option<OpenedInvitation>, StoreError> {
    // Any other text is no link of ours, and asks no database.
    if secret.expose().len() != SECRET_LENGTH {
        return Ok(None);
    }
    let found = context.storage.find_invitation_by_hash(SecretHash::of(secret)).await?;
    let Some(invitation) = found else { return Ok(None) };
    let client = match invitation.client {
        Some(client) => context.clients.find(client).await?,
        None => None,
    };
    let state = invitation.state(context.clock.now());
    Ok(Some(OpenedInvitation { state, leads_to: client.as_deref().map(LeadsTo::of), invitation }))
}

impl LeadsTo {
    fn of(client: &Client) -> Self {
        let uri = client.metadata.display.client_uri.clone();
        let is_vetted = client.origin == ClientOrigin::Operator;
        Self {
            name: client.shown_name().into_owned(),
            uri: uri.filter(|uri| is_vetted && is_web_address(uri)),
        }
    }
}
