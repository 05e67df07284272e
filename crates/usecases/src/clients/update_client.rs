//! A client replaces its configuration (RFC 7592 section 2.2).

use countersign_domain::client::{AuthenticationMethod, Client, ClientAuthentication, ClientOrigin};
use countersign_domain::client_change::FieldChange;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::registration::{LeftOut, RegistrationRejected, RequestedMetadata, Rules};
use countersign_domain::resource::{OpenTo, Resource};
use countersign_domain::scope::ScopeName;
use countersign_domain::secret::Secret;
use countersign_ports::{StoreError, UpdateClient};
use time::OffsetDateTime;

use crate::Context;
use crate::clients::judge_sector::judge_sector_change;
use crate::clients::open_configuration::open_configuration;
use crate::clients::register_client::{declared_to, judge};
use crate::context::cause::Cause;

/// A client with its new metadata.
#[derive(Clone, Debug)]
pub struct UpdatedClient {
    /// The client.
    pub client: Client,
    /// The redirect URIs that were not registered.
    pub left_out: Vec<LeftOut>,
}

/// Why the configuration stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum UpdateClientError {
    /// The registration access token is not this client's.
    #[error("registration access token is not good")]
    TokenInvalid,
    /// The request has a secret that is not the client's own. A client cannot choose its secret (RFC 7592
    /// section 2.2).
    #[error("client_secret is not the client's own")]
    OtherSecret,
    /// The metadata is not valid.
    #[error("client metadata is refused")]
    Rejected(#[from] RegistrationRejected),
    /// A client cannot change between a secret, keys and neither.
    #[error("authentication method cannot change between a secret, keys and none")]
    MethodChange,
    /// The client could not be stored.
    #[error("client could not be stored")]
    Store(#[from] StoreError),
}

/// Replaces a client's metadata; its id and its secrets stay, even those that it got a moment ago.
pub async fn update_client(
    context: &Context,
    cause: &Cause,
    client_id: &str,
    token: &Secret,
    secret: Option<&Secret>,
    requested: RequestedMetadata,
) -> Result<UpdatedClient, UpdateClientError> {
    let client =
        open_configuration(context, client_id, token).await?.ok_or(UpdateClientError::TokenInvalid)?;
    if secret.is_some_and(|secret| !is_own(context.clock.now(), &client, secret)) {
        return Err(UpdateClientError::OtherSecret);
    }
    // What the operator gave to a client of the operator's, the client may keep or give up. More it cannot take.
    let is_operators = client.origin == ClientOrigin::Operator;
    // The usual scopes could be more than the operator gave, so a request without scopes keeps them.
    let requested = if is_operators && requested.names_no_scopes() {
        RequestedMetadata { scope: Some(client.metadata.scopes.to_string()), ..requested }
    } else {
        requested
    };
    let may_have = |resource: &Resource, name: &ScopeName| {
        client.metadata.scopes.has_own(name) || (!is_operators && resource.open_to == OpenTo::Everyone)
    };
    let declared = declared_to(context.management(), &requested, may_have).await?;
    let rules = Rules { longest: None, ..Rules::of(client.origin, &declared) };
    let mut judged = judge(context.management(), requested, rules)?;
    let before = client.clone();
    // Only operators change lifetimes, so they stay, whatever the request says of them.
    judged.metadata.display = judged.metadata.display.with_lifetimes_of(&before.metadata.display);
    let authentication =
        carried_over(client.authentication, judged.method).ok_or(UpdateClientError::MethodChange)?;
    let client = Client { authentication, metadata: judged.metadata, ..client };
    if is_operators && let Some(field) = FieldChange::widened(&before, &client) {
        let rule = "belongs to the operator who registered this client: the client itself can only give up what it has";
        return Err(RegistrationRejected::Field { field: field.name(), rule }.into());
    }
    judge_sector_change(&*context.fetcher, &before, &client).await?;
    let left_out = judged.left_out;
    if client == before {
        return Ok(UpdatedClient { client, left_out });
    }
    let event = context.event(context.clock.now(), cause, EventKind::ClientChanged, |event| {
        event.client = Some(client.id);
        event.details = Details::default().text("what", "metadata");
    });
    let is_there = context.clients.update(UpdateClient { client: client.clone(), event }).await?;
    if is_there { Ok(UpdatedClient { client, left_out }) } else { Err(UpdateClientError::TokenInvalid) }
}

/// The credential of a client whose metadata now names this method. `None` if it would have to be of another
/// kind: an update makes no secret and takes none away.
pub fn carried_over(
    authentication: ClientAuthentication,
    method: AuthenticationMethod,
) -> Option<ClientAuthentication> {
    match (authentication, method) {
        (ClientAuthentication::Public, AuthenticationMethod::None) => Some(ClientAuthentication::Public),
        (ClientAuthentication::Secret { secrets, .. }, AuthenticationMethod::Secret(method)) => {
            Some(ClientAuthentication::Secret { method, secrets })
        }
        (ClientAuthentication::Keys, AuthenticationMethod::PrivateKeyJwt) => Some(ClientAuthentication::Keys),
        (
            ClientAuthentication::Public,
            AuthenticationMethod::Secret(_) | AuthenticationMethod::PrivateKeyJwt,
        )
        | (ClientAuthentication::Keys, AuthenticationMethod::Secret(_) | AuthenticationMethod::None)
        | (
            ClientAuthentication::Secret { .. },
            AuthenticationMethod::PrivateKeyJwt | AuthenticationMethod::None,
        ) => None,
    }
}

/// An old secret that still works is the client's own, too.
fn is_own(now: OffsetDateTime, client: &Client, secret: &Secret) -> bool {
    match &client.authentication {
        ClientAuthentication::Secret { secrets, .. } => secrets.recognize(now, secret).is_some(),
        ClientAuthentication::Keys | ClientAuthentication::Public => false,
    }
}
