//! An operator's description of a coin.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| countersign_fuzz_checks::coin::judge(text));
