//! Two releases on one database, under load. Each accepts what the other gave, and no request fails, also not while the
//! newer one starts and brings the schema up to date.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use countersign_tests::load::Load;
use countersign_tests::on_both;
use countersign_tests::server::binary;

const CONNECTIONS: usize = 8;
/// How long each connection pauses after a sign-in.
const PAUSE: Duration = Duration::from_millis(200);
/// How long both run. `make side-by-side` lets them run for ten minutes.
const SECONDS: u64 = 2;

/// The program of the release before. Without one, this build runs beside itself.
fn before() -> PathBuf {
    std::env::var_os("BEFORE").map_or_else(binary, PathBuf::from)
}

on_both! {
    /// D-30.
    fn a_release_runs_beside_the_one_before_without_one_failed_request(database) {
        let database = &database.sibling();
        let seconds = std::env::var("SIDE_BY_SIDE_SECONDS").map_or(SECONDS, |seconds| seconds.parse().unwrap());
        let older = database.server().with_binary(&before()).start();
        let alone = Load::start_with_pauses(&[older.site()], CONNECTIONS, PAUSE);
        alone.wait_for(100);
        let newer = database.server().with_public_url(&older.public_url).start();
        alone.wait_for(100);
        let across = Load::across(&[older.site(), newer.site()], CONNECTIONS, PAUSE);
        across.wait_for(100);
        thread::sleep(Duration::from_secs(seconds));
        for (load, checker) in [(alone, &newer), (across, &older)] {
            let ledger = load.stop();
            println!(
                "{} requests, slowest {:?}, longest gap {:?}",
                ledger.acknowledged(), ledger.slowest(), ledger.longest_gap()
            );
            assert_eq!(ledger.broken(), [], "connections failed");
            assert_eq!(ledger.unavailable(), 0, "somebody got a 503");
            ledger.hold_against(checker);
        }
        let verified = database.operate(&["event", "verify"]);
        assert_eq!(verified["holds"], true, "{verified}");
    }
}
