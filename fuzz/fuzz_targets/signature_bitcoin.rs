//! Signatures for Bitcoin accounts.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz::signature::judge(
    &countersign_fuzz::accounts::BITCOIN,
    input
));
