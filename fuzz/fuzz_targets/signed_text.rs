//! Texts with signatures that are valid for other texts.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::signature::signed_text(input));
