//! Turns a clause into a test. Only the macros use this module.

use std::future::Future;
use std::pin::{Pin, pin};

use tokio::runtime::Builder;

/// Runs a clause on a multi-threaded runtime of its own.
pub fn run(clause: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    // One type for all clauses: what runs them is compiled once.
    let clause: Pin<&mut dyn Future<Output = ()>> = pin!(clause);
    runtime.block_on(clause);
}
