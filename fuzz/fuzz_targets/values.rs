//! The small values: scopes, ids, codes, PKCE, account names, the operator's secret.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| countersign_fuzz_checks::values::judge(input));
