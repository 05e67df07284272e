//! The judge's code is as documented, and its answer is read strictly. A real virtual machine runs it in
//! `tests/peers/evm.mjs`.

use proptest::prelude::*;

use super::*;

fn wallet() -> Address {
    Address::parse("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").unwrap().0
}

fn constructor(deployment: Option<&Deployment>, signature: &[u8]) -> Vec<u8> {
    Question { wallet: &wallet(), hash: &[0xab; 32], signature, deployment }.constructor()
}

#[test]
fn b_049_the_judge_of_a_wrapped_signature_is_the_documented_one() {
    let deployment = Deployment { factory: [0xfa; 20], calldata: vec![0xcd; 40] };
    let code = constructor(Some(&deployment), &[1, 2, 3]);
    // 40 bytes for the factory and 4 + 4 * 32 for the wallet are 172 (0xac); in whole words that is 192
    // (0xc0).
    let expected = [
        "61 00ac 61 0091 60 00 39",
        "60 01 73 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 3b 15 15 80 61 00e0 52",
        // If there is code, jump over the factory's call to the instruction 5b after it.
        "61 0054 57",
        "60 00 60 00 61 0028 60 00 60 00 73 fafafafafafafafafafafafafafafafafafafafa 62 0f4240 5a 03 f1 16",
        "5b 60 20 61 0140 61 0084 61 0028 73 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 62 00ea60 5a 03 fa",
        "16 61 00c0 52",
        "3d 61 0120 52",
        "46 61 0100 52",
        "60 a0 61 00c0 f3",
    ];
    let expected = expected.concat().replace(' ', "");
    assert_eq!(hex::encode(&code[..INSTRUCTIONS]), expected);
    assert_eq!(code[0x54], 0x5b);
    assert_eq!(code[INSTRUCTIONS..INSTRUCTIONS + 40], [0xcd; 40]);
    assert_eq!(code[INSTRUCTIONS + 40..], erc1271::question(&[0xab; 32], &[1, 2, 3]));
}

#[test]
fn f_13_a_signature_that_is_not_wrapped_calls_the_wallet_and_nothing_else() {
    let code = constructor(None, &[1, 2, 3]);
    let question = erc1271::question(&[0xab; 32], &[1, 2, 3]);
    let (instructions, data) = code.split_at(code.len() - question.len());
    assert_eq!(data, question);
    let calls = operations(instructions).filter(|operation| (0xf0..=0xff).contains(operation));
    assert_eq!(calls.collect::<Vec<_>>(), [0xfa, 0xf3], "STATICCALL and RETURN");
}

/// The operations without the values that they push.
fn operations(code: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = code.iter().copied();
    std::iter::from_fn(move || {
        let operation = rest.next()?;
        if (0x60..=0x7f).contains(&operation) {
            rest.nth(usize::from(operation - 0x60));
        }
        Some(operation)
    })
}

#[test]
fn the_longest_signature_makes_a_judge_that_eip_3860_allows() {
    for calldata in [0, 1, 8_000, 16_100] {
        let room = MAX_LENGTH - 7 * 32 - calldata;
        let deployment = Deployment { factory: [5; 20], calldata: vec![7; calldata] };
        let code = constructor(Some(&deployment), &vec![9; room / 32 * 32]);
        assert!(code.len() <= MAX_CONSTRUCTOR, "{}", code.len());
    }
}

const YES: [u8; 32] = {
    let mut yes = [0; 32];
    yes[0] = 0x16;
    yes[1] = 0x26;
    yes[2] = 0xba;
    yes[3] = 0x7e;
    yes
};

fn said(went_well: usize, had_code: usize, chain: usize, length: usize, first: [u8; 32]) -> Option<Verdict> {
    let words = [went_well, had_code, chain, length].map(abi::word);
    Verdict::read(&[&words.concat()[..], &first].concat())
}

#[test]
fn b_047_the_five_words_mean_yes_only_together() {
    let verdict = |had_code, takes_it| Some(Verdict { chain: Some(8453), had_code, takes_it });
    assert_eq!(said(1, 1, 8453, 32, YES), verdict(true, true));
    assert_eq!(said(1, 0, 8453, 32, YES), verdict(false, true));
    assert_eq!(said(0, 1, 8453, 32, YES), verdict(true, false));
    for length in [0, 4, 31, 33, 64, 1 << 16] {
        assert_eq!(said(1, 1, 8453, length, YES), verdict(true, false), "{length}");
    }
    for bit in 0..256 {
        let mut other = YES;
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(said(1, 1, 8453, 32, other), verdict(true, false), "{bit}");
    }
    assert_eq!(said(2, 1, 8453, 32, YES), None);
    assert_eq!(said(1, 2, 8453, 32, YES), None);
    for length in [0, 1, 32, 96, 128, 159, 161, 192] {
        assert_eq!(Verdict::read(&vec![0; length]), None, "{length}");
    }
}

#[test]
fn b_046_the_chain_is_the_whole_word() {
    let mut words = [abi::word(1), abi::word(1), abi::word(8453), abi::word(32), YES];
    assert_eq!(Verdict::read(&words.concat()).unwrap().chain, Some(8453));
    words[2][0] = 1;
    assert_eq!(Verdict::read(&words.concat()).unwrap().chain, None);
    words[2] = [0; 32];
    words[2][23] = 1;
    assert_eq!(Verdict::read(&words.concat()).unwrap().chain, None);
}

proptest! {
    #[test]
    fn any_answer_gets_a_reading(answer in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Verdict::read(&answer);
    }

    #[test]
    fn f_13_every_judge_asks_for_the_code_before_it_calls_anybody(
        calldata in prop::collection::vec(any::<u8>(), 0..400),
        signature in prop::collection::vec(any::<u8>(), 0..400),
        factory in any::<[u8; 20]>(),
    ) {
        let deployment = Deployment { factory, calldata: calldata.clone() };
        let code = constructor(Some(&deployment), &signature);
        let data = calldata.len() + erc1271::question(&[0xab; 32], &signature).len();
        let instructions = &code[..code.len() - data];
        let order: Vec<u8> =
            operations(instructions).filter(|it| [0x3b, 0x57, 0xf1, 0x5b, 0xfa, 0xf3].contains(it)).collect();
        prop_assert_eq!(order, [0x3b, 0x57, 0xf1, 0x5b, 0xfa, 0xf3]);
    }
}
