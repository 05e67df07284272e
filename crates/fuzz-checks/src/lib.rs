//! What the fuzz targets do with their input: one function for each, which panics when the code under test breaks a promise (C-06).
//!
//! Every input is text, so that people can read and write the files of a corpus. docs/testing.md says how to run
//! the targets. `tests/corpus.rs` runs every input that fuzzing has kept.
#![expect(clippy::expect_used, reason = "a check fails by panicking, as tests do")]

pub mod accounts;
pub mod address;
pub mod addresses_of_pages;
pub mod coin;
pub mod registration;
pub mod signature;
pub mod token;
pub mod values;

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use countersign_adapters_crypto::WalletRouter;
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{Verdict, VerifierError, WalletVerifier};

/// All families, as on a server without any RPC URL.
pub(crate) static ROUTER: LazyLock<WalletRouter> = LazyLock::new(WalletRouter::standard);

/// Asks for a verdict and makes sure that it comes at once, because there is no chain to query.
pub(crate) fn verdict(
    account: &WalletAccount,
    text: &str,
    signature: &str,
) -> Result<Verdict, VerifierError> {
    let proof = WalletProof {
        account: account.clone(),
        kind: None,
        text: text.to_owned(),
        signature: signature.to_owned(),
    };
    let answer = pin!(ROUTER.verify(&proof));
    let Poll::Ready(verdict) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the verdict waits for something");
    };
    if let Ok(Verdict::Invalid(reason)) = &verdict {
        assert!(!reason.is_empty());
    }
    verdict
}

/// Can this be in a line of a challenge, and in a header?
pub(crate) fn is_printable(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
}
