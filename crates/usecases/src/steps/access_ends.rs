//! Shared step: when an access token ends. That is what it was issued with, or sooner: its client's lifetimes may have
//! been shortened since. Nothing is rewritten for that, however many tokens there are.

use countersign_domain::client::Client;
use countersign_domain::lifetimes::SHORTEST;
use countersign_domain::token::AccessSnapshot;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::Context;

/// When it ends. `known` saves looking up its client, if it is this one.
pub(crate) async fn access_ends(
    context: &Context,
    access: &AccessSnapshot,
    known: Option<&Client>,
) -> Result<OffsetDateTime, StoreError> {
    let lifetimes = &context.policy.lifetimes;
    let shortened =
        |client: &Client| access.expires_at.min(client.lifetimes(lifetimes).access_ends(access.issued_at));
    if let Some(client) = known.filter(|client| client.id == access.client) {
        return Ok(shortened(client));
    }
    let client = context.clients.find(access.client).await?;
    Ok(client.map_or(access.expires_at, |client| shortened(&client)))
}

/// Is it valid? While it is younger than any lifetime, no client has to be looked up for that.
pub(crate) async fn is_live(
    context: &Context,
    access: &AccessSnapshot,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    if !access.is_live(now) {
        return Ok(false);
    }
    let is_young = now < access.issued_at + SHORTEST.min(context.policy.lifetimes.access_token);
    Ok(is_young || now < access_ends(context, access, None).await?)
}
