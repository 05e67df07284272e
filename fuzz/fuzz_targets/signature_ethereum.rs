//! Signatures for Ethereum accounts.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::signature::judge(
    &countersign_fuzz_checks::accounts::ETHEREUM,
    input
));
