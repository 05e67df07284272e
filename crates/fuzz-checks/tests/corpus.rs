//! C-06: runs every input in `fuzz/corpus` under the rules that fuzzing checks, so that a bug which was found once stays
//! fixed. `make fuzz` looks for more.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says where it was"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_fuzz_checks::{
    accounts, address, addresses_of_pages, coin, registration, signature, token, values,
};

/// A fuzz target takes this for a finding too.
const LONGEST: Duration = Duration::from_secs(10);

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Checks every input of a target. The name of one that fails is the last line of the output.
fn replay(target: &str, check: impl Fn(&str)) {
    let inputs = files(&fuzz().join("corpus").join(target));
    assert!(!inputs.is_empty(), "{target} has no corpus");
    for input in inputs {
        // A fuzz target sees no others either.
        let Ok(text) = String::from_utf8(fs::read(&input).unwrap()) else { continue };
        println!("{}", input.display());
        let begun = Instant::now();
        check(&text);
        assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    }
}

/// Makes of each target a test of its name.
macro_rules! targets {
    ($($target:ident: $check:expr,)*) => {
        $(
            #[test]
            fn $target() {
                replay(stringify!($target), $check);
            }
        )*

        const REPLAYED: &[&str] = &[$(stringify!($target)),*];
    };
}

targets! {
    address: address::judge,
    coin: coin::judge,
    public_url: addresses_of_pages::public_url,
    redirect_uri: addresses_of_pages::redirect_uri,
    registration: registration::judge,
    signature_bitcoin: |input| signature::judge(&accounts::BITCOIN, input),
    signature_bytes: signature::bytes,
    signature_coins: |input| signature::judge(&accounts::COINS, input),
    signature_cosmos: |input| signature::judge(&accounts::COSMOS, input),
    signature_ethereum: |input| signature::judge(&accounts::ETHEREUM, input),
    signature_solana: |input| signature::judge(&accounts::SOLANA, input),
    signature_tron: |input| signature::judge(&accounts::TRON, input),
    signed_text: signature::signed_text,
    token: token::judge,
    values: values::judge,
}

#[test]
fn every_fuzz_target_is_replayed() {
    let files = files(&fuzz().join("fuzz_targets"));
    let targets: BTreeSet<&str> =
        files.iter().map(|file| file.file_stem().and_then(|name| name.to_str()).unwrap()).collect();
    assert_eq!(targets, REPLAYED.iter().copied().collect());
}
