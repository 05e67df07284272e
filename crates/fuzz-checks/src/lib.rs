//! What the fuzz targets do with their input: one function for each, which panics when the code under test breaks a promise.
//!
//! Every input is text, so that the files of a corpus can be read and written by hand. docs/testing.md says how to run them.
//! `tests/corpus.rs` gives them every input that fuzzing has kept.
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

/// All families, as the server has them without an address of a chain to ask.
pub(crate) static ROUTER: LazyLock<WalletRouter> = LazyLock::new(WalletRouter::standard);

/// Asks for a verdict, and sees to it that it is given at once: there is no chain to ask.
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

/// May this stand in a line of a challenge, and in a header?
pub(crate) fn is_printable(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
}
