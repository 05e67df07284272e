//! How a clause becomes a test. The macros use this; nobody else needs it.

use std::future::Future;

use tokio::runtime::Builder;

/// Runs a clause on a runtime of its own with several threads.
pub fn run(clause: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(clause);
}
