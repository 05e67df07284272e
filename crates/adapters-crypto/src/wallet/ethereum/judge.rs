//! The code that verifies a contract's signature on the chain, and how its verdict is read. It is called the
//! judge.
//!
//! A whole verdict is one `eth_call` without a receiver. The node runs its data as the constructor of a
//! contract that is then discarded. It answers three questions: is there code at the address, does that code
//! accept the signature, and which chain is this? One call sees one block and one state, and the chain's
//! number comes from the virtual machine that ran the rest. So no part of the answer can come from another
//! moment or another chain (F-13, B-046). Nothing is stored (B-049).
//!
//! If there is code, only that code is asked. The deployment in a signature (ERC-6492) is run only if there
//! is none: the caller must not choose the state in which an existing account answers.

use super::erc6492::Deployment;
use super::spelling::MAX_LENGTH;
use super::{Address, abi, erc1271};

/// Gas that the factory may not use: enough for any wallet to check a signature.
const KEPT_FOR_THE_WALLET: [u8; 3] = [0x0f, 0x42, 0x40]; // 1,000,000
/// Gas that the wallet may not use: 160 bytes of "code" to deposit cost 32,000, and a few instructions
/// follow.
const KEPT_FOR_THE_ANSWER: [u8; 3] = [0x00, 0xea, 0x60]; // 60,000

/// The length of the first instructions, which copy the two call data from the end of the code into memory.
const COPYING: usize = 9;
/// The length of the two instructions that skip the factory.
const SKIPPING: usize = 4;
/// The maximum length of all instructions.
const INSTRUCTIONS: usize = 145;
/// The length of the answer.
const ANSWER: usize = 5 * abi::WORD;

/// EIP-3860 limits a constructor to this many bytes.
const MAX_CONSTRUCTOR: usize = 49_152;

/// Kept in lock-step with [`MAX_LENGTH`]: the factory's call data and the question are parts of one
/// signature.
const _: () = assert!(INSTRUCTIONS + MAX_LENGTH + 5 * abi::WORD <= MAX_CONSTRUCTOR);

/// The input of the judge.
#[derive(Debug)]
pub(super) struct Question<'a> {
    /// The account's address.
    pub(super) wallet: &'a Address,
    /// The hash that was signed.
    pub(super) hash: &'a [u8; 32],
    /// The signature, without the deployment.
    pub(super) signature: &'a [u8],
    /// How the contract is deployed, if the signature says it.
    pub(super) deployment: Option<&'a Deployment>,
}

/// The judge's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The number of the chain that ran the judge; `None` if it is too large for a chain.
    pub(super) chain: Option<u64>,
    /// True if there was code at the address before anything was deployed.
    pub(super) had_code: bool,
    /// True if the code at the address accepted the signature.
    pub(super) takes_it: bool,
}

impl Question<'_> {
    /// The code of the judge, as a constructor. It returns five words: whether its calls succeeded, whether
    /// there was code at the address at first, the chain's number, the length of the wallet's answer, and the
    /// first word of that answer.
    ///
    /// The first word is 0 or 1, so the answer begins with a zero byte: a "contract" that began with 0xEF
    /// would not be returned (EIP-3541). Both calls keep gas for what follows, so neither a factory nor a
    /// wallet that burns all its gas can turn the answer into an error. Only instructions of the Istanbul
    /// fork are used; every chain has them.
    pub(super) fn constructor(&self) -> Vec<u8> {
        let question = erc1271::question(self.hash, self.signature);
        let making: &[u8] = self.deployment.map_or(&[], |deployment| &deployment.calldata);
        let data = making.len() + question.len();
        // Memory: the factory's call data, the question, and then, at the next whole word, the answer.
        let answer = abi::padded(data);

        let mut code = Code::default();
        // Everything has succeeded so far.
        code.push(&[1]);
        // MSTORE(second word, is there code?)
        code.push(self.wallet.bytes()).op(0x3b).op(0x15).op(0x15);
        code.op(0x80).push(&short(answer + abi::WORD)).op(0x52);
        let mut make = Code::default();
        if let Some(Deployment { factory, .. }) = self.deployment {
            // AND(so far, CALL(all gas except a reserve, factory, no value, its call data, nothing of its
            // answer))
            make.push(&[0]).push(&[0]).push(&short(making.len())).push(&[0]).push(&[0]).push(factory);
            make.push(&KEPT_FOR_THE_WALLET).op(0x5a).op(0x03).op(0xf1).op(0x16);
        }
        // JUMPI(after the factory's call, if there is code)
        let behind = COPYING + code.0.len() + SKIPPING + make.0.len();
        code.push(&short(behind)).op(0x57);
        code.0.extend(make.0);
        code.op(0x5b);
        // STATICCALL(all gas except a reserve, wallet, the question, one word of its answer into the last
        // word of ours)
        code.push(&[32]).push(&short(answer + 4 * abi::WORD)).push(&short(question.len()));
        code.push(&short(making.len())).push(self.wallet.bytes());
        code.push(&KEPT_FOR_THE_ANSWER).op(0x5a).op(0x03).op(0xfa);
        // MSTORE(first word, AND of both)
        code.op(0x16).push(&short(answer)).op(0x52);
        // MSTORE(fourth word, RETURNDATASIZE)
        code.op(0x3d).push(&short(answer + 3 * abi::WORD)).op(0x52);
        // MSTORE(third word, CHAINID)
        code.op(0x46).push(&short(answer + 2 * abi::WORD)).op(0x52);
        // RETURN(the five words)
        code.push(&[160]).push(&short(answer)).op(0xf3);

        let mut whole = Code::default();
        // CODECOPY(to 0, from the end of the instructions, both call data)
        whole.push(&short(data)).push(&short(COPYING + code.0.len())).push(&[0]).op(0x39);
        debug_assert_eq!(whole.0.len(), COPYING);
        whole.0.extend(code.0);
        debug_assert!(whole.0.len() <= INSTRUCTIONS);
        whole.0.extend(making);
        whole.0.extend(question);
        whole.0
    }
}

impl Verdict {
    /// Reads the five words. `None` if the answer is anything else.
    pub(super) fn read(answer: &[u8]) -> Option<Self> {
        let (words, rest) = answer.as_chunks::<{ abi::WORD }>();
        let [went_well, had_code, chain, length, first] = words else { return None };
        if !rest.is_empty() || answer.len() != ANSWER {
            return None;
        }
        let said_yes = *length == abi::word(abi::WORD) && erc1271::is_yes(first);
        let (zeros, number) = chain.split_last_chunk::<8>()?;
        Some(Self {
            chain: (*zeros == [0; 24]).then(|| u64::from_be_bytes(*number)),
            had_code: flag(had_code)?,
            takes_it: flag(went_well)? && said_yes,
        })
    }
}

/// Reads a word that is 0 or 1.
fn flag(word: &[u8; abi::WORD]) -> Option<bool> {
    if *word == abi::word(1) { Some(true) } else { (*word == abi::word(0)).then_some(false) }
}

/// Positions and lengths in a constructor fit into two bytes, because it has fewer than 49,152.
fn short(number: usize) -> [u8; 2] {
    let [.., high, low] = number.to_be_bytes();
    [high, low]
}

/// Instructions of the Ethereum virtual machine.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn op(&mut self, operation: u8) -> &mut Self {
        self.0.push(operation);
        self
    }

    /// PUSH1 to PUSH32, depending on the length of the value.
    fn push<const LENGTH: usize>(&mut self, value: &[u8; LENGTH]) -> &mut Self {
        const { assert!(LENGTH >= 1 && LENGTH <= 32) };
        self.0.push(0x5f + LENGTH as u8);
        self.0.extend(value);
        self
    }
}

#[cfg(test)]
mod tests;
