//! The list of a client's sector: fetched when the client registers, and when its list or its redirect URIs change (OpenID
//! Connect Core section 8.1, Dynamic Registration section 5). What can be judged without it is in
//! [`countersign_domain::sector`].

use countersign_domain::client::ClientMetadata;
use countersign_domain::registration::RegistrationRejected;
use countersign_domain::sector::{SectorRejected, judge_list};
use countersign_ports::Fetcher;

/// Judges the list of a sector, if a client names one. Nothing is fetched for a client that was registered with the same
/// list and the same redirect URIs, so that other changes do not depend on the host.
pub async fn judge_sector(
    fetcher: &dyn Fetcher,
    before: Option<&ClientMetadata>,
    after: &ClientMetadata,
) -> Result<(), RegistrationRejected> {
    let said = |metadata: &ClientMetadata| {
        (metadata.display.sector_identifier_uri.clone(), metadata.redirect_uris.clone())
    };
    let Some(uri) = &after.display.sector_identifier_uri else { return Ok(()) };
    if before.is_some_and(|before| said(before) == said(after)) {
        return Ok(());
    }
    judged(fetcher, uri, after).await.map_err(RegistrationRejected::Sector)
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
