//! ERC-6492: signatures of contracts that may not be there yet. The signature brings along how the contract is made.
//!
//! Nothing is made: the whole happens in one `eth_call` without a receiver, whose data the node runs as the constructor of a
//! contract that is thrown away (B-049). The code of that constructor is written down here, byte by byte.

use super::spelling::MAX_LENGTH;
use super::{Address, abi, erc1271};

/// The end of every such signature. The last byte is no recovery byte, so no signature of a key ends like this.
const MAGIC: [u8; abi::WORD] = [
    0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64,
    0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92,
];

/// How a contract is made, or made ready to judge.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deployment {
    factory: [u8; 20],
    calldata: Vec<u8>,
}

/// Must this signature be read as one of ERC-6492? Then it is nothing else, and above all no key's (B-045).
pub(super) fn is_wrapped(signature: &[u8]) -> bool {
    signature.ends_with(&MAGIC)
}

/// Takes a signature apart: how the contract is made, and the signature that the contract is to judge.
///
/// There is one accepted form, the one that every ABI encoder writes: `(address, bytes, bytes)` with the two contents in this
/// order, without gaps, filled up with zeros. Offsets that point elsewhere are refused, and so is a wrapper in the wrapper.
pub(super) fn unwrap(signature: &[u8]) -> Option<(Deployment, Vec<u8>)> {
    let body = signature.strip_suffix(&MAGIC)?;
    let (factory, rest) = body.split_first_chunk::<{ abi::WORD }>()?;
    let (first, rest) = rest.split_first_chunk::<{ abi::WORD }>()?;
    let (second, rest) = rest.split_first_chunk::<{ abi::WORD }>()?;
    let (zeros, factory) = factory.split_first_chunk::<12>()?;
    let (calldata, rest) = split_bytes(rest)?;
    let (inner, rest) = split_bytes(rest)?;
    let head = 3 * abi::WORD;
    let is_canonical = *zeros == [0; 12]
        && *first == abi::word(head)
        && *second == abi::word(head + abi::WORD + abi::padded(calldata.len()))
        && rest.is_empty();
    if !is_canonical || is_wrapped(inner) {
        return None;
    }
    let deployment = Deployment { factory: factory.try_into().ok()?, calldata: calldata.to_vec() };
    Some((deployment, inner.to_vec()))
}

/// Splits bytes behind their length off, with the zeros that fill their last word.
fn split_bytes(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<{ abi::WORD }>()?;
    let (high, low) = length.split_last_chunk::<2>()?;
    // No signature is long enough for a third byte.
    if high.iter().any(|byte| *byte != 0) {
        return None;
    }
    let length = usize::from(u16::from_be_bytes(*low));
    let (content, rest) = rest.split_at_checked(abi::padded(length))?;
    let (content, filling) = content.split_at_checked(length)?;
    filling.iter().all(|byte| *byte == 0).then_some((content, rest))
}

/// What the factory may not use up: enough for any wallet's check of a signature.
const KEPT_FOR_THE_WALLET: [u8; 3] = [0x0f, 0x42, 0x40]; // 1,000,000
/// What the wallet may not use up: 96 bytes of "code" to deposit cost 19,200, and a few instructions.
const KEPT_FOR_THE_ANSWER: [u8; 3] = [0x00, 0xea, 0x60]; // 60,000

/// How long [`constructor`]'s instructions are, which is where its data begin.
const INSTRUCTIONS: usize = 103;

/// EIP-3860 lets a constructor have this many bytes.
const MAX_CONSTRUCTOR: usize = 49_152;

/// Kept in lock-step with [`MAX_LENGTH`]: the call data of the factory and the question are parts of one signature.
const _: () = assert!(INSTRUCTIONS + MAX_LENGTH + 5 * abi::WORD <= MAX_CONSTRUCTOR);

/// The code of a constructor that makes the contract by its factory, asks it about the signature and returns three words:
/// whether both calls went well, how long the wallet's answer is, and its first word.
///
/// The first word is 0 or 1, so the answer begins with a zero byte: a "contract" that began with 0xEF would not be returned
/// (EIP-3541). Both calls keep gas for what comes after them, so that neither a factory nor a wallet that burns all it gets
/// turns the answer into an error. Only instructions of the Byzantium fork are used; every chain has them.
pub(super) fn constructor(
    deployment: &Deployment,
    wallet: &Address,
    hash: &[u8; 32],
    signature: &[u8],
) -> Vec<u8> {
    let question = erc1271::question(hash, signature);
    let made_by = deployment.calldata.len();
    let data = made_by + question.len();
    // Memory: the call data of the factory, the question, and in whole words behind them the answer.
    let answer = abi::padded(data);
    let mut code = Code::default();
    // CODECOPY(to 0, from the end of the instructions, both call data)
    code.push(&short(data)).push(&short(INSTRUCTIONS)).push(&[0]).op(0x39);
    // CALL(all gas but a part, factory, no value, its call data, nothing of its answer)
    code.push(&[0]).push(&[0]).push(&short(made_by)).push(&[0]).push(&[0]).push(&deployment.factory);
    code.push(&KEPT_FOR_THE_WALLET).op(0x5a).op(0x03).op(0xf1);
    // STATICCALL(all gas but a part, wallet, the question, one word of its answer into the third word of ours)
    code.push(&[32]).push(&short(answer + 2 * abi::WORD)).push(&short(question.len())).push(&short(made_by));
    code.push(wallet.bytes()).push(&KEPT_FOR_THE_ANSWER).op(0x5a).op(0x03).op(0xfa);
    // MSTORE(first word, AND of what both calls left on the stack)
    code.op(0x16).push(&short(answer)).op(0x52);
    // MSTORE(second word, RETURNDATASIZE)
    code.op(0x3d).push(&short(answer + abi::WORD)).op(0x52);
    // RETURN(the three words)
    code.push(&[96]).push(&short(answer)).op(0xf3);
    let mut code = code.0;
    debug_assert_eq!(code.len(), INSTRUCTIONS);
    code.extend(&deployment.calldata);
    code.extend(question);
    code
}

/// Reads the three words: did everything go well, and does the wallet say yes? `None` where they are not three such words.
pub(super) fn is_yes(answer: &[u8]) -> Option<bool> {
    let (went_well, rest) = answer.split_first_chunk::<{ abi::WORD }>()?;
    let (length, first) = rest.split_first_chunk::<{ abi::WORD }>()?;
    if first.len() != abi::WORD || (*went_well != abi::word(0) && *went_well != abi::word(1)) {
        return None;
    }
    Some(*went_well == abi::word(1) && *length == abi::word(abi::WORD) && erc1271::is_yes(first))
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
