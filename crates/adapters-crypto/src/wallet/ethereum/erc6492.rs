//! ERC-6492: signatures of contracts that may not exist yet. The signature says how to deploy the contract.
//! `judge` describes how that is used.

use super::abi;

/// The end of every such signature. Its last byte is not a recovery byte, so no key's signature ends like
/// this.
const MAGIC: [u8; abi::WORD] = [
    0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64,
    0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92, 0x64, 0x92,
];

/// How to deploy a contract that does not exist yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deployment {
    pub(super) factory: [u8; 20],
    pub(super) calldata: Vec<u8>,
}

/// True if this signature must be read as ERC-6492. It is then nothing else, and above all not a key's
/// signature (B-045).
pub(super) fn is_wrapped(signature: &[u8]) -> bool {
    signature.ends_with(&MAGIC)
}

/// Splits a signature into the deployment of the contract and the signature for the contract to verify.
///
/// Only one form is accepted, the one that every ABI encoder writes: `(address, bytes, bytes)` with the two
/// contents in this order, without gaps, padded with zeros. Other offsets are refused, and so is a wrapper
/// inside the wrapper.
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

/// Splits off bytes that follow their length, with the zeros that pad their last word.
fn split_bytes(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<{ abi::WORD }>()?;
    let (high, low) = length.split_last_chunk::<2>()?;
    // No signature is long enough to need a third byte.
    if high.iter().any(|byte| *byte != 0) {
        return None;
    }
    let length = usize::from(u16::from_be_bytes(*low));
    let (content, rest) = rest.split_at_checked(abi::padded(length))?;
    let (content, filling) = content.split_at_checked(length)?;
    filling.iter().all(|byte| *byte == 0).then_some((content, rest))
}

#[cfg(test)]
mod tests;
