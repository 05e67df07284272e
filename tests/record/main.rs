//! An attacker who may write any row and does not have the secret, against the record of events: with the real storages, the
//! real keys and the use-cases of the server, so that the clock can be moved by months.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it counted"
)]

mod attacks;
mod forgery;
mod scene;

use std::sync::Arc;

use countersign_test_postgres::Cluster;
use countersign_tests::Database;

/// Nothing that is sealed changes without `event verify` naming it. What changes nothing that is sealed is listed in
/// docs/threat-model.md, and asserted to change nothing.
mod an_attacker_who_may_write_any_row_changes_no_sealed_event_unseen {
    use super::*;

    #[test]
    fn sqlite() {
        attacks::attack(&Database::new_sqlite());
    }

    #[test]
    fn postgres() {
        attacks::attack(&Database::in_cluster(&Arc::new(Cluster::start())));
    }
}
