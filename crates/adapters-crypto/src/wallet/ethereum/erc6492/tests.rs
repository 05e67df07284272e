//! The wrapper has one form, and the constructor is the one that its documentation describes.

use proptest::prelude::*;

use super::*;

/// What an ABI encoder writes for (address, bytes, bytes), and the magic behind it.
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

fn wallet() -> Address {
    Address::parse("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").unwrap().0
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
    // Whatever is still a wrapper after a change has other parts: nothing in it is free.
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

#[test]
fn the_constructor_is_the_documented_one() {
    let deployment = Deployment { factory: [0xfa; 20], calldata: vec![0xcd; 40] };
    let code = constructor(&deployment, &wallet(), &[0xab; 32], &[1, 2, 3]);
    // 40 bytes for the factory and 4 + 4 * 32 for the wallet are 172 (0xac); in whole words that is 192 (0xc0).
    let expected = [
        "61 00ac 61 0067 60 00 39",
        "60 00 60 00 61 0028 60 00 60 00 73 fafafafafafafafafafafafafafafafafafafafa 62 0f4240 5a 03 f1",
        "60 20 61 0100 61 0084 61 0028 73 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 62 00ea60 5a 03 fa",
        "16 61 00c0 52",
        "3d 61 00e0 52",
        "60 60 61 00c0 f3",
    ];
    let expected = expected.concat().replace(' ', "");
    assert_eq!(hex::encode(&code[..INSTRUCTIONS]), expected);
    assert_eq!(code[INSTRUCTIONS..INSTRUCTIONS + 40], [0xcd; 40]);
    assert_eq!(code[INSTRUCTIONS + 40..], erc1271::question(&[0xab; 32], &[1, 2, 3]));
}

#[test]
fn the_longest_signature_makes_a_constructor_that_eip_3860_allows() {
    for calldata in [0, 1, 8_000, 16_100] {
        let room = MAX_LENGTH - 7 * 32 - calldata;
        let signature = wrapped([5; 20], &vec![7; calldata], &vec![9; room / 32 * 32]);
        let (deployment, inner) = unwrap(&signature).unwrap();
        let code = constructor(&deployment, &wallet(), &[0; 32], &inner);
        assert!(code.len() <= MAX_CONSTRUCTOR, "{}", code.len());
    }
}

#[test]
fn b_047_the_three_words_mean_yes_only_together() {
    let mut magic = [0; 32];
    magic[..4].copy_from_slice(&[0x16, 0x26, 0xba, 0x7e]);
    let answer = |went_well, length, first: [u8; 32]| {
        is_yes(&[abi::word(went_well), abi::word(length), first].concat())
    };
    assert_eq!(answer(1, 32, magic), Some(true));
    assert_eq!(answer(0, 32, magic), Some(false));
    for length in [0, 4, 31, 33, 64, 1 << 16] {
        assert_eq!(answer(1, length, magic), Some(false), "{length}");
    }
    assert_eq!(answer(1, 32, [0; 32]), Some(false));
    assert_eq!(answer(2, 32, magic), None);
    for length in [0, 1, 32, 64, 95, 97] {
        assert_eq!(is_yes(&vec![0; length]), None, "{length}");
    }
}

proptest! {
    #[test]
    fn b_045_any_bytes_before_the_magic_get_an_answer(body in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(unwrap(&[&body[..], &MAGIC].concat()), None);
        prop_assert_eq!(unwrap(&body), None);
    }
}
