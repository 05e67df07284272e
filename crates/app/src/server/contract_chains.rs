//! What is said at the start about the services that are asked about contract wallets.

use countersign_adapters_crypto::RpcEndpoint;

use crate::failure::chain;

/// Names every chain whose contract wallets can sign in, and asks its service in the background whether it is of that chain.
/// One that is not, or does not answer, hinders nobody else: the server starts all the same.
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
