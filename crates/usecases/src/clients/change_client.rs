//! The operator changes a client at the terminal. No request of a client does that.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::registration::{Mistakes, RequestedMetadata, Rules};
use countersign_domain::resource::Catalog;
use countersign_domain::scope::ScopeSet;
use countersign_ports::{ChangeResources, ResourceChange, UpdateClient};

use crate::Management;
use crate::act_refused::ActRefused;
use crate::clients::judge_sector::judge_sector_change;
use crate::clients::open_resource::resources_changed;
use crate::clients::register_client::{declared_to, judge, owners};
use crate::clients::update_client::carried_over;

/// A change of a client that keeps the rules of registration. Nothing of it is stored yet.
#[derive(Debug)]
pub struct JudgedChange {
    before: Client,
    client: Client,
    declared: Catalog,
    given: ScopeSet,
}

/// Judges new metadata for a client that was just read, by the rules of registration.
pub async fn judge_change(
    management: Management<'_>,
    client: Client,
    requested: RequestedMetadata,
) -> Result<JudgedChange, ActRefused> {
    if let Some(document) = client.document {
        return Err(ActRefused::Described(document));
    }
    let declared = declared_to(management, &requested, |_, _| true).await?;
    // The operator reads the error, even if the client registered itself.
    let rules = Rules {
        mistakes: Mistakes::Refused,
        longest: Some(management.policy.lifetimes.longest),
        ..Rules::of(client.origin, &declared)
    };
    let judged = judge(management, requested, rules)?;
    let given = judged.metadata.scopes.without(&client.metadata.scopes);
    let before = client.clone();
    let authentication =
        carried_over(client.authentication, judged.method).ok_or(ActRefused::MethodChange)?;
    let client = Client { authentication, metadata: judged.metadata, ..client };
    judge_sector_change(management.fetcher, &before, &client).await?;
    Ok(JudgedChange { before, client, declared, given })
}

impl JudgedChange {
    /// Is the client another one afterwards? If not, nothing is stored and nothing is recorded.
    pub fn is_any(&self) -> bool {
        self.client != self.before
    }

    /// The client as it was read, and as it is to be.
    pub const fn sides(&self) -> (&Client, &Client) {
        (&self.before, &self.client)
    }
}

/// Replaces the metadata of a client that was just read. Its id, its secret, who registered it and what is open to it
/// stay. From the answer on, every replica uses the new values.
pub async fn change_client(
    management: Management<'_>,
    client: Client,
    requested: RequestedMetadata,
) -> Result<Client, ActRefused> {
    let change = judge_change(management, client, requested).await?;
    if !change.is_any() {
        return Ok(change.client);
    }
    let JudgedChange { before: _, mut client, declared, given } = change;
    let event = management.event(management.clock.now(), EventKind::ClientChanged, |event| {
        event.client = Some(client.id);
        event.details = Details::default().text("what", "metadata");
    });
    if !management.clients.update(UpdateClient { client: client.clone(), event }).await? {
        return Err(ActRefused::ClientUnknown(client.id));
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
