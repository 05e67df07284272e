//! The decoder of signatures whose length is known.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::signature::bytes(input));
