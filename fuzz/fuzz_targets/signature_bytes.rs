//! The decoder for signatures of a known length.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::signature::bytes(input));
