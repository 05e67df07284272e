//! The operator opens a resource to one client, or closes it again. Clients cannot do this themselves.

use countersign_domain::client::Client;
use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::id::ClientId;
use countersign_domain::resource::ResourceRules;
use countersign_ports::{ChangeResources, ResourceChange};

use crate::Management;
use crate::act_refused::ActRefused;

/// May the operator open these resources to a client?
pub fn judge_opened(rules: &ResourceRules, uris: &[String]) -> Result<(), ActRefused> {
    for uri in uris {
        match rules.may_be_opened(uri) {
            Ok(true) => {}
            Ok(false) => return Err(ActRefused::NotDeclared(uri.clone())),
            Err(unfit) => return Err(ActRefused::NotOpened { uri: uri.clone(), unfit }),
        }
    }
    Ok(())
}

/// Opens resources to a client. Those that are open already stay open. By the time of the answer every
/// replica knows the change.
pub async fn open_resources(
    management: Management<'_>,
    id: ClientId,
    uris: &[String],
) -> Result<Client, ActRefused> {
    judge_opened(&management.resource_rules().await?, uris)?;
    change(management, id, ResourceChange::Open(uris.to_vec())).await
}

/// Closes resources to a client, even those that the settings no longer declare. Tokens that were issued stay
/// valid until they expire; a refresh gives no new ones for a closed resource.
pub async fn close_resources(
    management: Management<'_>,
    id: ClientId,
    uris: &[String],
) -> Result<Client, ActRefused> {
    change(management, id, ResourceChange::Close(uris.to_vec())).await
}

/// The event of a change.
pub(crate) fn resources_changed(
    management: Management<'_>,
    client: ClientId,
    change: &ResourceChange,
) -> Option<Box<Event>> {
    management.event(management.clock.now(), EventKind::ClientChanged, |event| {
        event.client = Some(client);
        let (name, uris) = match change {
            ResourceChange::Open(uris) => ("opened", uris),
            ResourceChange::Close(uris) => ("closed", uris),
        };
        event.details = Details::default().text("what", "resources").text(name, uris.join(" "));
    })
}

async fn change(
    management: Management<'_>,
    id: ClientId,
    change: ResourceChange,
) -> Result<Client, ActRefused> {
    let event = resources_changed(management, id, &change);
    if !management.clients.change_resources(ChangeResources { client: id, change, event }).await? {
        return Err(ActRefused::ClientUnknown(id));
    }
    let changed = management.clients.find_fresh(id).await?;
    let client = changed.ok_or(ActRefused::ClientUnknown(id))?;
    tracing::info!(client.id = %id, resources = client.resources.len(), "resources of the client changed");
    Ok(client)
}
