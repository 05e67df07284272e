//! Ethereum accounts: EIP-55 addresses, keys by EIP-191 `personal_sign`, contracts by ERC-1271 and ERC-6492.
//!
//! A key's signature is verified by arithmetic, without asking anyone. That holds even if the account lets a
//! contract act for it (EIP-7702): its key stays in control. Only what no key can have signed is asked of the
//! chain, if one is configured.

mod abi;
mod address;
mod contract;
mod eip191;
mod erc1271;
mod erc6492;
mod judge;
mod rpc;
mod spelling;

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};
use countersign_ports::{
    AddressHint, ContractChain, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError,
    WalletVerifier,
};

pub(crate) use address::Address;
pub(crate) use eip191::digest as personal_sign_digest;
pub use rpc::{RpcEndpoint, RpcEndpointRejected, RpcUrl, RpcUrlRejected};

use contract::{ContractClaim, Said};
use eip191::{SIGNATURE_LENGTH, recover};
use rpc::{Asker, Chains};

/// One user on every EVM chain.
const FAMILY: &str = "eip155";

/// The chain in the challenge when none is named.
const USUAL_CHAIN: &str = "eip155:1";

/// The kind of account in the challenge.
const KIND: &str = "Ethereum";

/// Verifies Ethereum accounts. Keys are verified on the caller's thread; contracts are asked on the
/// configured chains.
#[derive(Clone, Debug)]
pub struct EthereumVerifier {
    chains: Arc<Chains>,
}

impl EthereumVerifier {
    /// Verifies keys only.
    pub fn offline() -> Self {
        Self::with_rpc(Vec::new())
    }

    /// Verifies contracts on these chains too. If a chain has two endpoints, the later one is asked.
    pub fn with_rpc(endpoints: Vec<RpcEndpoint>) -> Self {
        Self { chains: Arc::new(Chains::new(endpoints)) }
    }

    /// A key's account is valid as it was asked for. A contract's account belongs to its own chain: at the
    /// same address on another chain there may be someone else's contract (P-10).
    async fn decide(&self, asker: Asker, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let question = match judge(proof) {
            Judged::Valid => return Ok(Verdict::Valid(proof.account.clone())),
            Judged::Invalid(reason) => return Ok(Verdict::Invalid(reason)),
            Judged::NotAKeys(question) => question,
        };
        let Question { chain, claim, why_not_a_keys } = question;
        if !self.chains.know(chain) {
            return Ok(Verdict::Invalid(why_not_a_keys.unwrap_or(NOBODY_TO_ASK)));
        }
        let said = self.chains.ask(chain, asker, move |conversation| claim.judge(conversation)).await?;
        Ok(match said {
            Said::Yes => {
                let family = proof.account.chain.clone();
                Verdict::Valid(WalletAccount { family, ..proof.account.clone() })
            }
            Said::No => Verdict::Invalid("the contract does not accept it"),
            Said::NoContract => Verdict::Invalid(why_not_a_keys.unwrap_or(NO_CONTRACT)),
        })
    }
}

impl Default for EthereumVerifier {
    fn default() -> Self {
        Self::offline()
    }
}

#[async_trait]
impl WalletVerifier for EthereumVerifier {
    /// Reads `0x` and forty hexadecimal digits: all lower case, all upper case, or mixed with the right
    /// EIP-55 checksum. Names, ICAP and the zero address are refused. Any EVM chain may be named; a key's
    /// account is the same on all.
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let chain = chain.unwrap_or(USUAL_CHAIN);
        let (Some((_, address)), Some(chain_id)) = (Address::parse(address), chain_id(chain)) else {
            return Vec::new();
        };
        let account = WalletAccount { family: FAMILY.to_owned(), chain: chain.to_owned(), address };
        vec![RecognizedAccount { account, kind: KIND.into(), chain_id: chain_id.to_string() }]
    }

    /// A contract's account belongs to its chain, whether that chain can be asked or not: unlinking needs no
    /// confirmation from it.
    fn recognize_as(&self, kind: AccountKind, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        let mut recognized = self.recognize(address, chain);
        match kind {
            AccountKind::Key => {}
            AccountKind::Contract => {
                for RecognizedAccount { account, .. } in &mut recognized {
                    account.family.clone_from(&account.chain);
                }
            }
        }
        recognized
    }

    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        self.decide(Asker::SignIn, proof).await
    }

    async fn examine(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        self.decide(Asker::Curious, proof).await
    }

    fn page_modules(&self) -> Vec<PageModule> {
        vec![PageModule { name: "ethereum", source: include_str!("ethereum/page.js") }]
    }

    fn contract_chains(&self) -> Vec<ContractChain> {
        let named = |id| ContractChain { chain: format!("{FAMILY}:{id}"), name: chain_name(id) };
        self.chains.ids().map(named).collect()
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        vec![AddressHint { kind: KIND.into(), look: "0x and 40 characters".into() }]
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        if account.family != FAMILY {
            return Vec::new();
        }
        let how = "cast wallet sign --interactive \"$(cat sign-in.txt)\"".to_owned();
        vec![SigningHint { tool: "Foundry", how }]
    }
}

/// The number of an EVM chain, from its only CAIP-2 form.
fn chain_id(chain: &str) -> Option<u64> {
    let reference = chain.strip_prefix("eip155:")?;
    let number: u64 = reference.parse().ok()?;
    (number > 0 && number.to_string() == reference).then_some(number)
}

/// The usual name of a chain; most have none here.
fn chain_name(id: u64) -> Cow<'static, str> {
    let name = match id {
        1 => "Ethereum",
        10 => "Optimism",
        56 => "BNB Smart Chain",
        100 => "Gnosis",
        137 => "Polygon",
        324 => "ZKsync Era",
        8453 => "Base",
        42161 => "Arbitrum One",
        42220 => "Celo",
        43114 => "Avalanche",
        59144 => "Linea",
        534_352 => "Scroll",
        11_155_111 => "Sepolia",
        _ => return format!("{FAMILY}:{id}").into(),
    };
    name.into()
}

const NOBODY_TO_ASK: &str = "it is not the 65-byte signature of a key, and no RPC address is configured to \
                             ask a contract on its chain";
const WRAPPED: &str = "it is the ERC-6492 signature of a contract, but the account belongs to a key";
const NO_CONTRACT: &str =
    "it is not the 65-byte signature of a key, and there is no contract at the address (yet)";

/// The result of arithmetic alone.
#[derive(Debug)]
enum Judged {
    /// The account's key made the signature.
    Valid,
    /// Neither a key nor a contract can have made it.
    Invalid(&'static str),
    /// The account's key did not make it; a contract may still accept it.
    NotAKeys(Question),
}

#[derive(Debug)]
struct Question {
    chain: u64,
    claim: ContractClaim,
    /// Why it is not the key's signature, if it looks like one.
    why_not_a_keys: Option<&'static str>,
}

fn judge(proof: &WalletProof) -> Judged {
    let WalletAccount { family, chain, address } = &proof.account;
    let of_family = match proof.kind {
        Some(AccountKind::Contract) => chain,
        Some(AccountKind::Key) | None => FAMILY,
    };
    let Some(chain) = chain_id(chain).filter(|_| family == of_family) else {
        return Judged::Invalid("the account is not of the Ethereum family");
    };
    let Some((wallet, _)) = Address::parse(address).filter(|(_, checksummed)| checksummed == address) else {
        return Judged::Invalid("the account's address is not in its canonical form");
    };
    let signature = match spelling::decode(&proof.signature) {
        Ok(signature) => signature,
        Err(reason) => return Judged::Invalid(reason),
    };
    let hash = personal_sign_digest(proof.text.as_bytes());
    let is_wrapped = erc6492::is_wrapped(&signature);
    let by_key = match proof.kind {
        // There is no fallback: a contract may accept what its own key signed, and is asked.
        Some(AccountKind::Contract) => None,
        // A wrapper is never a key's signature, whatever its length (B-045).
        Some(AccountKind::Key) | None if is_wrapped => Some(Err(WRAPPED)),
        Some(AccountKind::Key) | None => Some(by_key(&hash, &signature, &wallet)),
    };
    let why_not_a_keys = match (by_key, proof.kind) {
        (Some(Ok(())), _) => return Judged::Valid,
        (Some(Err(reason)), Some(AccountKind::Key)) => return Judged::Invalid(reason),
        // Only a signature with the length of a key's looks like one.
        (Some(Err(reason)), None | Some(AccountKind::Contract)) if signature.len() == SIGNATURE_LENGTH => {
            Some(reason)
        }
        (Some(Err(_)) | None, None | Some(_)) => None,
    };
    let (deployment, signature) = if is_wrapped {
        let Some((deployment, signature)) = erc6492::unwrap(&signature) else {
            return Judged::Invalid("it ends like an ERC-6492 signature but is not one");
        };
        (Some(deployment), signature)
    } else {
        (None, signature)
    };
    let claim = ContractClaim { wallet, hash, signature, deployment };
    Judged::NotAKeys(Question { chain, claim, why_not_a_keys })
}

/// Checks that the key of this address made the signature.
fn by_key(hash: &[u8; 32], signature: &[u8], wallet: &Address) -> Result<(), &'static str> {
    if signature.len() != SIGNATURE_LENGTH {
        return Err("it is not the 65-byte signature of a key");
    }
    let signer = recover(hash, signature)?;
    if signer.is(wallet) { Ok(()) } else { Err("it was made by another key or for another text") }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
