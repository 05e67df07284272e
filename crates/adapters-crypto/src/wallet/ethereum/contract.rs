//! Wallets that are contracts: what is claimed of one, and what its chain says.

use super::Address;
use super::erc6492::Deployment;
use super::judge::{Question, Verdict};
use super::rpc::{Conversation, NoAnswer};

/// What somebody claims of a contract: that it takes this signature of this hash.
#[derive(Debug)]
pub(super) struct ContractClaim {
    pub(super) wallet: Address,
    pub(super) hash: [u8; 32],
    pub(super) signature: Vec<u8>,
    /// How the contract is made, where the signature says it. Where there is code, it is not looked at: the contract judges the
    /// signature in the wrapper, as wallets send it that go on wrapping after they were deployed.
    pub(super) deployment: Option<Deployment>,
}

/// What the chain says to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// There is no contract, and the signature does not say how it is made.
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
