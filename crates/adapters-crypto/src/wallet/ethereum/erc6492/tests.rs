//! The wrapper has only one form.

use proptest::prelude::*;

use super::*;

/// What an ABI encoder writes for (address, bytes, bytes), followed by the magic.
fn wrapped(factory: [u8; 20], calldata: &[u8], inner: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; 12];
    signature.extend(factory);
    signature.extend(abi::word(96));
    signature.extend(abi::word(96 + 32 + calldata.len().div_ceil(32) * 32));
    signature.extend(abi::bytes(calldata));
    signature.extend(abi::bytes(inner));
    signature.extend(MAGIC);
    signature
}

#[test]
fn the_parts_of_a_wrapper_are_what_was_wrapped() {
    let lengths = [0, 1, 31, 32, 33, 65, 1000];
    for (calldata, inner) in lengths.into_iter().flat_map(|one| lengths.map(|other| (one, other))) {
        let (calldata, inner) = (vec![7; calldata], vec![9; inner]);
        let expected = Some((Deployment { factory: [5; 20], calldata: calldata.clone() }, inner.clone()));
        assert_eq!(unwrap(&wrapped([5; 20], &calldata, &inner)), expected);
    }
}

#[test]
fn b_045_a_wrapper_cut_stretched_or_pointing_elsewhere_is_none() {
    let good = wrapped([5; 20], &[7; 40], &[9; 65]);
    let body = &good[..good.len() - MAGIC.len()];
    assert!(unwrap(&good).is_some());
    for length in 0..body.len() {
        assert_eq!(unwrap(&[&body[..length], &MAGIC].concat()), None, "{length}");
        assert_eq!(unwrap(&[&body[body.len() - length..], &MAGIC].concat()), None, "{length}");
    }
    for more in [1, 31, 32, 64] {
        assert_eq!(unwrap(&[body, &vec![0; more], &MAGIC].concat()), None, "{more}");
    }
    // If it is still a wrapper after a change, its parts are different: no bit of it is free.
    for bit in 0..body.len() * 8 {
        let mut changed = good.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Some((deployment, inner)) = unwrap(&changed) {
            let again = wrapped(deployment.factory, &deployment.calldata, &inner);
            assert!(again == changed, "{bit}");
        }
    }
    assert_eq!(unwrap(&wrapped([5; 20], &[], &good)), None, "a wrapper in a wrapper");
}

proptest! {
    #[test]
    fn b_045_any_bytes_before_the_magic_get_an_answer(body in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(unwrap(&[&body[..], &MAGIC].concat()), None);
        prop_assert_eq!(unwrap(&body), None);
    }
}
