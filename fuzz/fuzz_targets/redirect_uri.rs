//! A registered redirect URI, and a requested one in the next line.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::addresses_of_pages::redirect_uri(input));
