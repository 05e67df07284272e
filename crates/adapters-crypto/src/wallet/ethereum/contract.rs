//! Contract wallets: a claim about one, and the chain's answer.

use super::Address;
use super::erc6492::Deployment;
use super::judge::{Question, Verdict};
use super::rpc::{Conversation, NoAnswer};

/// A claim that a contract accepts this signature of this hash.
#[derive(Debug)]
pub(super) struct ContractClaim {
    pub(super) wallet: Address,
    pub(super) hash: [u8; 32],
    pub(super) signature: Vec<u8>,
    /// How the contract is deployed, if the signature says it. If there is code already, this is ignored: the
    /// contract verifies the signature inside the wrapper. Some wallets go on wrapping signatures after
    /// deployment.
    pub(super) deployment: Option<Deployment>,
}

/// The chain's answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// There is no contract, and the signature does not say how to deploy it.
    NoContract,
}

impl ContractClaim {
    /// Asks the chain, in one call.
    pub(super) fn judge(&self, chain: &Conversation<'_>) -> Result<Said, NoAnswer> {
        let Self { wallet, hash, signature, deployment } = self;
        let question = Question { wallet, hash, signature, deployment: deployment.as_ref() };
        let Some(Verdict { had_code, takes_it, .. }) = chain.judge(&question)? else { return Ok(Said::No) };
        Ok(match (had_code || deployment.is_some(), takes_it) {
            (true, true) => Said::Yes,
            (true, false) => Said::No,
            (false, _) => Said::NoContract,
        })
    }
}
