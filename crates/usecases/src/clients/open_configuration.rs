//! Shared step: a client opens its own configuration (RFC 7592 section 2).

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;

use crate::Context;

/// Finds the client that the token belongs to; `None` for a wrong token, another client's token and an
/// unknown client.
pub(crate) async fn open_configuration(
    context: &Context,
    client_id: &str,
    registration_token: &Secret,
) -> Result<Option<Client>, StoreError> {
    let Some(id) = ClientId::parse(client_id) else { return Ok(None) };
    let client = context.clients.find_fresh(id).await?;
    Ok(client.filter(|client| client.registration_token.admits(registration_token)))
}
