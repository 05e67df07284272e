//! The list of a client's sector: fetched when the client registers, and when its list or its redirect URIs change (OpenID
//! Connect Core section 8.1, Dynamic Registration section 5). What can be judged without it is in
//! [`countersign_domain::sector`].

use countersign_domain::client::{Client, ClientMetadata};
use countersign_domain::registration::{self, RegistrationRejected};
use countersign_domain::sector::{SectorRejected, judge_list};
use countersign_ports::Fetcher;

/// Judges the list of a new client's sector, if it names one.
pub async fn judge_sector(
    fetcher: &dyn Fetcher,
    client: &ClientMetadata,
) -> Result<(), RegistrationRejected> {
    let Some(uri) = &client.display.sector_identifier_uri else { return Ok(()) };
    judged(fetcher, uri, client).await.map_err(RegistrationRejected::Sector)
}

/// Judges what a change does to the sector of a client. Nothing is fetched if the client names the same list and the same
/// redirect URIs as before, so that other changes do not depend on the host.
pub async fn judge_sector_change(
    fetcher: &dyn Fetcher,
    before: &Client,
    after: &Client,
) -> Result<(), RegistrationRejected> {
    registration::judge_sector_change(before, after)?;
    let said = |client: &Client| {
        (client.metadata.display.sector_identifier_uri.clone(), client.metadata.redirect_uris.clone())
    };
    if said(before) == said(after) { Ok(()) } else { judge_sector(fetcher, &after.metadata).await }
}

async fn judged(fetcher: &dyn Fetcher, uri: &str, client: &ClientMetadata) -> Result<(), SectorRejected> {
    let read =
        |body: &[u8]| serde_json::from_slice::<Vec<String>>(body).map_err(|_| SectorRejected::NotAList);
    let not_fetched = |error| {
        tracing::info!(url = uri, %error, "list of a sector cannot be fetched");
        SectorRejected::NotFetched
    };
    let known = read(&fetcher.get(uri).await.map_err(not_fetched)?.body);
    if known.and_then(|listed| judge_list(&listed, &client.redirect_uris)).is_ok() {
        return Ok(());
    }
    // The host may have changed its list a moment ago, for this very request.
    let listed = read(&fetcher.get_anew(uri).await.map_err(not_fetched)?.body)?;
    judge_list(&listed, &client.redirect_uris)
}
