//! What every use-case works with: the ports and the operator's policy.

use std::fmt;
use std::sync::Arc;

use countersign_domain::challenge::TextKey;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::public_url::PublicUrl;
use countersign_ports::{Clock, Entropy, Mailer, Storage, TokenSigner, WalletVerifier};

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
    /// Who sends mail, if anybody does.
    pub mailer: Option<Arc<dyn Mailer>>,
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
    /// Do clients that ask for an e-mail address get a made-up one where none is on file?
    pub synthetic_email: bool,
    /// What makes our texts known again as ours.
    pub text_key: TextKey,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("policy", &self.policy).finish_non_exhaustive()
    }
}
