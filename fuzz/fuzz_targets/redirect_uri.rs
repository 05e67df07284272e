//! A redirect URI that is registered, and in the next line one that is asked for.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::addresses_of_pages::redirect_uri(input));
