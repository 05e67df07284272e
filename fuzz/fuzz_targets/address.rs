//! An address as people write it, optionally with the chain in its last line.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::address::judge(input));
