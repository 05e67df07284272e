//! Measures how long the verification of signatures takes.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};
use countersign_ports::{
    AddressHint, ContractChain, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError,
    WalletVerifier,
};

use crate::Metrics;

/// The readable part of a family's name: its CAIP-2 namespace. The rest can be the hash of a chain's first
/// block.
pub fn namespace(family: &str) -> &str {
    family.split_once(':').map_or(family, |(namespace, _)| namespace)
}

/// Measures the wallet verifier that it wraps.
pub struct MeasuredWallets {
    wallets: Arc<dyn WalletVerifier>,
    metrics: Arc<Metrics>,
}

impl MeasuredWallets {
    /// Wraps a verifier.
    pub fn new(wallets: Arc<dyn WalletVerifier>, metrics: Arc<Metrics>) -> Self {
        Self { wallets, metrics }
    }

    fn record(&self, proof: &WalletProof, judged: &Result<Verdict, VerifierError>, started: Instant) {
        let result = match judged {
            Ok(Verdict::Valid(_)) => "valid",
            Ok(Verdict::Invalid(_)) => "invalid",
            Err(_) => "unavailable",
        };
        let family = namespace(&proof.account.family);
        self.metrics.signatures.of([family, result]).record(started.elapsed());
    }
}

#[async_trait]
impl WalletVerifier for MeasuredWallets {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        self.wallets.recognize(address, chain)
    }

    fn recognize_as(&self, kind: AccountKind, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        self.wallets.recognize_as(kind, address, chain)
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let started = Instant::now();
        let judged = self.wallets.verify(proof).await;
        self.record(proof, &judged, started);
        judged
    }

    async fn examine(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let started = Instant::now();
        let judged = self.wallets.examine(proof).await;
        self.record(proof, &judged, started);
        judged
    }

    fn page_modules(&self) -> Vec<PageModule> {
        self.wallets.page_modules()
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        self.wallets.address_hints()
    }

    fn contract_chains(&self) -> Vec<ContractChain> {
        self.wallets.contract_chains()
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        self.wallets.signing_hints(account)
    }
}

impl std::fmt::Debug for MeasuredWallets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeasuredWallets").finish_non_exhaustive()
    }
}
