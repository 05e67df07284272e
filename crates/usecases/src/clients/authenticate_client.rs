//! Shared step: a client authenticates.

mod verify_assertion;

use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::client_auth::{self, ClientCredentials, ClientRejected, Judged};
use countersign_ports::StoreError;

use crate::Context;
use crate::clients::client_document::find_stored;
use verify_assertion::verify_assertion;

/// Why a client could not be authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateClientError {
    /// The credentials are not valid.
    #[error("client is refused")]
    Rejected {
        /// Why.
        #[source]
        why: ClientRejected,
        /// What a developer on this machine learns of it. No one else learns anything.
        shown: Option<String>,
    },
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Finds the client and checks its credentials. A client assertion is used up, and the use of a secret is noted.
pub(crate) async fn authenticate_client(
    context: &Context,
    credentials: &ClientCredentials,
) -> Result<Arc<Client>, AuthenticateClientError> {
    let client = find_stored(context, &credentials.client_id).await?;
    let rejected = |why: ClientRejected| rejected(context, why, text_of(why));
    let now = context.clock.now();
    let judged = client_auth::judge(now, client.as_deref(), credentials).map_err(rejected)?;
    let client = client.ok_or_else(|| rejected(ClientRejected::Unknown))?;
    match judged {
        Judged::Public => {}
        Judged::Knows(secret) => context.uses.note_secret(client.id, secret, now),
        Judged::Signed(assertion) => {
            verify_assertion(context, &client, &credentials.client_id, assertion).await?;
        }
    }
    Ok(client)
}

/// The refusal of a client. Only a developer on this machine learns the exact cause.
fn rejected(context: &Context, why: ClientRejected, text: impl Into<String>) -> AuthenticateClientError {
    let shown = context.policy.public_url.is_loopback().then(|| text.into());
    AuthenticateClientError::Rejected { why, shown }
}

const fn text_of(why: ClientRejected) -> &'static str {
    match why {
        ClientRejected::Unknown => "no client with this client_id is registered here",
        ClientRejected::SecretMissing => "client_secret is missing",
        ClientRejected::SecretMismatch => "client_secret is not the one of this client",
        ClientRejected::OtherMethod => {
            "the client registered another way to authenticate: see its token_endpoint_auth_method"
        }
        ClientRejected::AssertionMissing => "this client signs: client_assertion is missing",
        ClientRejected::AssertionRejected => "client_assertion is not valid",
    }
}
