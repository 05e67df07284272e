//! The setting for this server's public URL.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::addresses_of_pages::public_url(input));
