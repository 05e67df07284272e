//! The operator changes a client at the terminal. No request of a client does that.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::registration::{RegistrationRejected, RequestedMetadata};
use countersign_domain::resource::Catalog;
use countersign_domain::scope::ScopeSet;
use countersign_ports::{ChangeResources, ResourceChange, StoreError, UpdateClient};

use crate::Management;
use crate::clients::open_resource::resources_changed;
use crate::clients::register_client::{declared_to, judge, owners};
use crate::clients::update_client::carried_over;

/// Why the client stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum ChangeClientError {
    /// The client is what its document says.
    #[error("{0} describes this client: change that document")]
    Described(String),
    /// The metadata breaks a rule of registration.
    #[error("client metadata is refused")]
    Rejected(#[from] RegistrationRejected),
    /// The client has one kind of credential, and the metadata names another.
    #[error(
        "the authentication method cannot change between a secret, keys and none: register another client, \
         and delete this one"
    )]
    MethodChange,
    /// The client was deleted meanwhile.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client could not be stored.
    #[error("client could not be stored")]
    Store(#[from] StoreError),
}

/// A change of a client that keeps the rules of registration. Nothing of it is stored yet.
#[derive(Debug)]
pub struct JudgedChange {
    client: Client,
    declared: Catalog,
    given: ScopeSet,
}

/// Judges new metadata for a client that was just read, by the rules of registration.
pub async fn judge_change(
    management: Management<'_>,
    client: Client,
    requested: RequestedMetadata,
) -> Result<JudgedChange, ChangeClientError> {
    if let Some(document) = client.document {
        return Err(ChangeClientError::Described(document));
    }
    let declared = declared_to(management, &requested, |_, _| true).await?;
    let judged = judge(management, requested, client.origin, &declared)?;
    let given = judged.metadata.scopes.without(&client.metadata.scopes);
    let authentication =
        carried_over(client.authentication, judged.method).ok_or(ChangeClientError::MethodChange)?;
    let client = Client { authentication, metadata: judged.metadata, ..client };
    Ok(JudgedChange { client, declared, given })
}

/// Replaces the metadata of a client that was just read. Its id, its secret, who registered it and what is open to it
/// stay. From the answer on, every replica uses the new values.
pub async fn change_client(
    management: Management<'_>,
    client: Client,
    requested: RequestedMetadata,
) -> Result<Client, ChangeClientError> {
    let change = judge_change(management, client, requested).await?;
    store_change(management, change).await
}

/// Stores a change that was judged, as [`change_client`] does.
pub async fn store_change(
    management: Management<'_>,
    change: JudgedChange,
) -> Result<Client, ChangeClientError> {
    let JudgedChange { mut client, declared, given } = change;
    let event = management.event(management.clock.now(), EventKind::ClientChanged, |event| {
        event.client = Some(client.id);
        event.details = Details::default().text("what", "metadata");
    });
    if !management.clients.update(UpdateClient { client: client.clone(), event }).await? {
        return Err(ChangeClientError::ClientUnknown);
    }
    // By giving a client of the operator's a scope, the operator opens its resource to it too.
    let opened = owners(&declared, &given);
    if client.origin == ClientOrigin::Operator && !opened.is_empty() {
        let change = ResourceChange::Open(opened);
        change.apply(&mut client.resources);
        let event = resources_changed(management, client.id, &change);
        management.clients.change_resources(ChangeResources { client: client.id, change, event }).await?;
    }
    tracing::info!(client.id = %client.id, "client changed by the operator");
    Ok(client)
}
