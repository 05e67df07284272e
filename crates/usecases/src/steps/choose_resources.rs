//! Shared step: the scopes that a person is asked to sign for, and the resources besides this server.

use countersign_domain::authorization::{judge_scope, names_own_scopes};
use countersign_domain::client::Client;
use countersign_domain::error::OAuthError;
use countersign_domain::id::ClientId;
use countersign_domain::resource::{Naming, names_a_client};
use countersign_domain::scope::ScopeSet;
use countersign_ports::StoreError;

use crate::Context;

/// Why resources are refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResourcesRejected {
    /// One of them is not a resource, or not one for this client.
    #[error("resource is refused")]
    Refused(#[from] OAuthError),
    /// We could not look up whether one of them is a client.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Judges the scopes and resources that a device or a program names when it asks a person to sign.
pub(crate) async fn choose_resources(
    context: &Context,
    client: &Client,
    scope: Option<&str>,
    requested: &[String],
) -> Result<(ScopeSet, Vec<String>), ResourcesRejected> {
    let rules = context.resource_rules(!requested.is_empty() || names_own_scopes(scope, client)).await?;
    let judged = judge_scope(scope, client, true, rules.catalog())?;
    let requested = requested.iter().map(String::as_str);
    let (scope, resources) = rules.choose(client, &judged, Naming::of(client, scope), requested)?;
    refuse_clients(context, &resources).await?;
    Ok((scope, resources))
}

/// Refuses a resource that is the address of a client's document. That client could take an access token for
/// the resource as an ID token.
pub(crate) async fn refuse_clients(context: &Context, resources: &[String]) -> Result<(), ResourcesRejected> {
    for uri in resources {
        let Some(id) = ClientId::named(uri) else { continue };
        if context.clients.find(id).await?.is_some() {
            return Err(names_a_client().into());
        }
    }
    Ok(())
}
