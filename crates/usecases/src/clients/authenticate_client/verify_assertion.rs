//! Shared step: a client authenticates with an assertion that it signed.

use countersign_domain::client::Client;
use countersign_domain::client_assertion::{self, AssertionRejected, Expected};
use countersign_domain::client_auth::ClientRejected;
use countersign_domain::forgetting::MARGIN;
use countersign_domain::registration::is_web_address;
use countersign_ports::{EntropyExt, FetchError, Fetched, JwsRejected, ReadJws, SpendProof};
use uuid::Uuid;

use super::rejected;
use crate::{AuthenticateClientError, Context};

/// Why an assertion is refused. This is only logged: the client gets the same answer for each.
#[derive(Debug, thiserror::Error)]
enum Unbelieved {
    #[error("the client has no keys")]
    NoKeys,
    #[error("jwks_uri: {0}")]
    Fetch(#[from] FetchError),
    #[error("{0}")]
    Signature(#[from] JwsRejected),
    #[error("alg is not the one that the client registered")]
    OtherAlgorithm,
    #[error("the payload is not an object with every name once")]
    Payload,
    #[error("{0}")]
    Claims(#[from] AssertionRejected),
    #[error("it was used before")]
    Replayed,
}

/// Verifies the signature with the client's keys, judges the claims, and remembers the assertion, because it
/// is valid only once.
pub(crate) async fn verify_assertion(
    context: &Context,
    client: &Client,
    client_id: &str,
    assertion: &str,
) -> Result<(), AuthenticateClientError> {
    let now = context.clock.now();
    let public_url = &context.policy.public_url;
    let admits_endpoint = context.policy.assertion_audience.admits_endpoint(client.origin);
    let token_endpoint = admits_endpoint.then(|| public_url.join("/oauth/token"));
    let expected = Expected {
        client_id,
        issuer: public_url.as_str(),
        token_endpoint: token_endpoint.as_deref(),
        keeps_fapi: client.keeps_fapi(),
        restored_at: context.keys.restored_at,
    };
    let judged = async {
        let signed = read(context, client, assertion).await?;
        let registered = client.metadata.display.token_endpoint_auth_signing_alg.as_ref();
        if registered.is_some_and(|name| *name != signed.algorithm) {
            return Err(Unbelieved::OtherAlgorithm);
        }
        let claims = context.jws.read_claims(&signed.payload).ok_or(Unbelieved::Payload)?;
        Ok(client_assertion::judge(signed.typ.as_deref(), &claims, expected, now)?)
    };
    let proof = judged.await.map_err(|why| refused(context, client, &why))?;
    let spend = SpendProof {
        digest: proof.digest,
        attempt: Uuid::from_bytes(context.entropy.bytes()),
        before: now - MARGIN,
        forget_after: proof.forget_after,
    };
    if context.storage.spend_proof(spend).await? {
        Ok(())
    } else {
        Err(refused(context, client, &Unbelieved::Replayed))
    }
}

/// Keys that were fetched a while ago may lack the newest one. If the signature does not fit, they are
/// fetched again.
async fn read(context: &Context, client: &Client, assertion: &str) -> Result<ReadJws, Unbelieved> {
    let display = &client.metadata.display;
    if let Some(jwks) = &display.jwks {
        return Ok(context.jws.read_signed(assertion, jwks)?);
    }
    let uri = display.jwks_uri.as_deref().filter(|uri| is_web_address(uri)).ok_or(Unbelieved::NoKeys)?;
    let known = context.fetcher.get_keys(uri).await?;
    match context.jws.read_signed(assertion, text(&known)?) {
        Err(JwsRejected::KeyUnknown | JwsRejected::Signature) => {
            let newest = context.fetcher.get_keys_anew(uri).await?;
            Ok(context.jws.read_signed(assertion, text(&newest)?)?)
        }
        read => Ok(read?),
    }
}

fn text(fetched: &Fetched) -> Result<&str, JwsRejected> {
    std::str::from_utf8(&fetched.body).map_err(|_| JwsRejected::Keys("not a text"))
}

fn refused(context: &Context, client: &Client, why: &Unbelieved) -> AuthenticateClientError {
    // As a string, which the log escapes: parts of it come from the client, or from another server.
    let reason = why.to_string();
    tracing::info!(client.id = %client.id, reason, "client assertion refused");
    // What another server answered stays in the log: a page of another site can read answers of this
    // endpoint.
    let text = match why {
        Unbelieved::Fetch(_) => "client_assertion: the keys at jwks_uri could not be fetched".to_owned(),
        Unbelieved::NoKeys
        | Unbelieved::Signature(_)
        | Unbelieved::OtherAlgorithm
        | Unbelieved::Payload
        | Unbelieved::Claims(_)
        | Unbelieved::Replayed => format!("client_assertion: {why}"),
    };
    rejected(context, ClientRejected::AssertionRejected, text)
}
