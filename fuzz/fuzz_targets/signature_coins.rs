//! Signatures for accounts of the coins that sign as Bitcoin does.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::signature::judge(
    &countersign_fuzz_checks::accounts::COINS,
    input
));
