//! Wallets that are contracts: what is asked, and in which order.

use super::erc6492::{self, Deployment};
use super::rpc::{Conversation, NoAnswer};
use super::{Address, erc1271};

/// What somebody claims of a contract: that it takes this signature of this hash.
#[derive(Debug)]
pub(super) struct ContractClaim {
    pub(super) wallet: Address,
    pub(super) hash: [u8; 32],
    pub(super) signature: Vec<u8>,
    /// How the contract is made, where the signature says it.
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
    /// Asks the chain. A contract that is there judges by itself; only one that is not there, or does not take the
    /// signature as it is, is made or made ready first, for the length of one question (B-045).
    pub(super) fn judge(&self, chain: &Conversation<'_>) -> Result<Said, NoAnswer> {
        let is_there = chain.has_code(&self.wallet)?;
        if is_there {
            let question = erc1271::question(&self.hash, &self.signature);
            let answer = chain.call(Some(&self.wallet), &question)?;
            if answer.is_some_and(|answer| erc1271::is_yes(&answer)) {
                return Ok(Said::Yes);
            }
        }
        match &self.deployment {
            Some(deployment) => {
                let code = erc6492::constructor(deployment, &self.wallet, &self.hash, &self.signature);
                let answer = chain.call(None, &code)?;
                let is_yes = answer.and_then(|answer| erc6492::is_yes(&answer)) == Some(true);
                Ok(if is_yes { Said::Yes } else { Said::No })
            }
            None if is_there => Ok(Said::No),
            None => Ok(Said::NoContract),
        }
    }
}
