//! The code that judges a contract's signature, and how its verdict is read.
//!
//! All of a verdict is one `eth_call` without a receiver, whose data the node runs as the constructor of a contract that is
//! thrown away: is there code at the address, what does it say to the signature, and which chain is this? One call is one
//! block and one state, and the chain's number comes from the virtual machine that ran the rest, so that no part of the answer
//! can be of another moment or another chain than the others (F-13, B-046). Nothing lasts (B-049).
//!
//! Where there is code, it alone is asked. What a signature brings along to make a contract (ERC-6492) is run only where there
//! is none: whoever asks must not choose the state in which an account that exists gives its answer.

use super::erc6492::Deployment;
use super::spelling::MAX_LENGTH;
use super::{Address, abi, erc1271};

/// What the factory may not use up: enough for any wallet's check of a signature.
const KEPT_FOR_THE_WALLET: [u8; 3] = [0x0f, 0x42, 0x40]; // 1,000,000
/// What the wallet may not use up: 160 bytes of "code" to deposit cost 32,000, and a few instructions.
const KEPT_FOR_THE_ANSWER: [u8; 3] = [0x00, 0xea, 0x60]; // 60,000

/// How long the instruction is that copies both call data behind the instructions into memory; the first one.
const COPYING: usize = 9;
/// How long the two are that skip the factory.
const SKIPPING: usize = 4;
/// How long all instructions are at most.
const INSTRUCTIONS: usize = 145;
/// How long the answer is.
const ANSWER: usize = 5 * abi::WORD;

/// EIP-3860 lets a constructor have this many bytes.
const MAX_CONSTRUCTOR: usize = 49_152;

/// Kept in lock-step with [`MAX_LENGTH`]: the call data of the factory and the question are parts of one signature.
const _: () = assert!(INSTRUCTIONS + MAX_LENGTH + 5 * abi::WORD <= MAX_CONSTRUCTOR);

/// What the judge is told.
#[derive(Debug)]
pub(super) struct Question<'a> {
    /// The account.
    pub(super) wallet: &'a Address,
    /// What was signed.
    pub(super) hash: &'a [u8; 32],
    /// The signature, without what makes the contract.
    pub(super) signature: &'a [u8],
    /// How the contract is made, where the signature says it.
    pub(super) deployment: Option<&'a Deployment>,
}

/// What the judge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The number of the chain that ran it; none where it is larger than any chain's.
    pub(super) chain: Option<u64>,
    /// Was there code at the address before anything was made?
    pub(super) had_code: bool,
    /// Did the code at the address take the signature?
    pub(super) takes_it: bool,
}

impl Question<'_> {
    /// The code of the judge, a constructor. It returns five words: whether its calls went well, whether there was code at
    /// the address when it came, the number of the chain, how long the wallet's answer is, and the answer's first word.
    ///
    /// The first word is 0 or 1, so the answer begins with a zero byte: a "contract" that began with 0xEF would not be
    /// returned (EIP-3541). Both calls keep gas for what comes after them, so that neither a factory nor a wallet that burns
    /// all it gets turns the answer into an error. Only instructions of the Istanbul fork are used; every chain has them.
    pub(super) fn constructor(&self) -> Vec<u8> {
        let question = erc1271::question(self.hash, self.signature);
        let making: &[u8] = self.deployment.map_or(&[], |deployment| &deployment.calldata);
        let data = making.len() + question.len();
        // Memory: the call data of the factory, the question, and in whole words behind them the answer.
        let answer = abi::padded(data);

        let mut code = Code::default();
        // Everything went well so far.
        code.push(&[1]);
        // MSTORE(second word, is there code?)
        code.push(self.wallet.bytes()).op(0x3b).op(0x15).op(0x15);
        code.op(0x80).push(&short(answer + abi::WORD)).op(0x52);
        let mut make = Code::default();
        if let Some(Deployment { factory, .. }) = self.deployment {
            // AND(so far, CALL(all gas but a part, factory, no value, its call data, nothing of its answer))
            make.push(&[0]).push(&[0]).push(&short(making.len())).push(&[0]).push(&[0]).push(factory);
            make.push(&KEPT_FOR_THE_WALLET).op(0x5a).op(0x03).op(0xf1).op(0x16);
        }
        // JUMPI(behind the factory's call, if there is code)
        let behind = COPYING + code.0.len() + SKIPPING + make.0.len();
        code.push(&short(behind)).op(0x57);
        code.0.extend(make.0);
        code.op(0x5b);
        // STATICCALL(all gas but a part, wallet, the question, one word of its answer into the last word of ours)
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
    /// Reads the five words. `None` where they are not five such words.
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

/// Positions and lengths in a constructor fit in two bytes, because it has less than 49,152.
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

    /// PUSH1 to PUSH32, by how much is pushed.
    fn push<const LENGTH: usize>(&mut self, value: &[u8; LENGTH]) -> &mut Self {
        const { assert!(LENGTH >= 1 && LENGTH <= 32) };
        self.0.push(0x5f + LENGTH as u8);
        self.0.extend(value);
        self
    }
}

#[cfg(test)]
mod tests;
