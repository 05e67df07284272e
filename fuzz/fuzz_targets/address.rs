//! An address as people write it, in its last line perhaps the chain.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::address::judge(input));
