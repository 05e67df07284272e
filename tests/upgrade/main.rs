//! Upgrades: this build goes on with the databases that each release wrote, and runs beside the release before.
//!
//! The databases of a release are in `tests/upgrade/VERSION`, as [`writing`] left them: `make release-databases` makes them,
//! once for each release. What must still hold is in `known.json` beside them. They are read in the hour in which they were
//! written, by a wrong clock, so that nothing in them has expired; and then today, when most of it has.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured"
)]

mod kept;
mod reading;
mod side_by_side;
mod writing;

use std::fs;
use std::path::PathBuf;

use countersign_tests::server::project;
use kept::{Kept, Kind};

/// What this build writes, it reads. With `WRITE_RELEASE=1.0.0` the databases are kept for later builds.
#[test]
fn this_build_goes_on_with_the_databases_that_it_wrote() {
    let scratch = tempfile::tempdir().unwrap();
    let release = std::env::var("WRITE_RELEASE").ok();
    let folder =
        release.as_ref().map_or_else(|| scratch.path().to_owned(), |version| releases().join(version));
    if release.is_some() {
        // What was released is never written again.
        fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    }
    for kind in Kind::ALL {
        writing::write(&Kept::new(&folder, kind));
        reading::read(&Kept::new(&folder, kind));
    }
}

#[test]
fn this_build_goes_on_with_the_databases_of_each_release() {
    for entry in fs::read_dir(releases()).unwrap() {
        let folder = entry.unwrap().path();
        // The others are the files of this program.
        if folder.is_dir() {
            println!("{}", folder.display());
            for kind in Kind::ALL {
                reading::read(&Kept::new(&folder, kind));
            }
        }
    }
}

fn releases() -> PathBuf {
    project().join("tests/upgrade")
}
