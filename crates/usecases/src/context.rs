//! What every use-case works with: the ports and the operator's policy.

use std::fmt;
use std::sync::Arc;

use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::public_url::PublicUrl;
use countersign_ports::{Clock, Entropy, Storage, TokenSigner, WalletVerifier};

/// The ports, and the policy. Made once at start.
#[derive(Clone)]
pub struct Context {
    /// Where everything lasting lives.
    pub storage: Arc<dyn Storage>,
    /// Who checks wallets.
    pub wallets: Arc<dyn WalletVerifier>,
    /// Who signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// What the operator decided.
    pub policy: Policy,
}

/// What the operator decided.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The issuer.
    pub public_url: PublicUrl,
    /// How long things live.
    pub lifetimes: Lifetimes,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("policy", &self.policy).finish_non_exhaustive()
    }
}
