//! Logs at startup which services are asked about contract wallets.

use countersign_adapters_crypto::RpcEndpoint;

use crate::failure::chain;

/// Names every chain whose contract wallets can sign in, and asks its service in the background whether it
/// serves that chain. A service that does not, or that does not answer, delays nothing: the server starts all
/// the same.
pub(super) fn introduce(endpoints: &[RpcEndpoint]) {
    for endpoint in endpoints {
        tracing::info!(chain = endpoint.chain(), rpc = %endpoint.url(), "contract wallets of this chain can sign in");
        let endpoint = endpoint.clone();
        tokio::spawn(async move {
            if let Err(error) = endpoint.check().await {
                let reason = chain(&error);
                tracing::warn!(
                    chain = endpoint.chain(),
                    reason,
                    "contract wallets of this chain cannot sign in now"
                );
            }
        });
    }
}
