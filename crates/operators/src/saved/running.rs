//! Whether a server runs on a database that is to be filled, or copied.
//!
//! Servers write down every few seconds that they run, by the clock of the database. If the database has a clock, it is asked. Where there is only
//! the clock of the machine (SQLite, ADR 0034), no clock is believed: a server that was seen is watched for as long as one that runs needs to
//! say so again.

use std::time::Duration as Pause;

use countersign_ports::{ArchiveError, ArchiveTarget, Holdings};
use time::{Duration, OffsetDateTime};

/// A server that said so within this time still runs.
pub const STILL_RUNS: Duration = Duration::minutes(1);

/// For how long a server is watched. One that runs says so every 10 s, at most 12.5 s apart, and trusts what it remembers for
/// 10 s after it last looked at the database; so one that stood still for all of this time looks before it answers.
pub const WATCHED: Pause = Pause::from_secs(25);

/// How often it is looked at meanwhile.
const LOOK_EVERY: Pause = Pause::from_millis(500);

/// What it takes to judge whether a server runs.
pub struct Judging<'a> {
    /// The time by the clock of this machine. It counts if the database has no clock.
    pub now: OffsetDateTime,
    /// Does the operator say that all servers are stopped, although one was seen in the future?
    pub servers_are_stopped: bool,
    /// Waits. Fails if the operator wants to stop.
    pub pause: &'a mut dyn FnMut(Pause) -> Result<(), ArchiveError>,
    /// Says that waiting takes a while.
    pub notice: fn(&str),
}

impl std::fmt::Debug for Judging<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judging").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Fails if a server runs on this database, or if that cannot be known. Returns what is in the database.
pub(super) fn judge(
    database: &mut dyn ArchiveTarget,
    on: &str,
    judging: &mut Judging<'_>,
) -> Result<Holdings, ArchiveError> {
    let holdings = database.holdings()?;
    let Some(seen_at) = holdings.server_seen_at else { return Ok(holdings) };
    let ago = holdings.clock.unwrap_or(judging.now) - seen_at;
    if ago.abs() < STILL_RUNS {
        return Err(runs(on, &format!("it said so {} seconds ago", ago.whole_seconds().max(0))));
    }
    if ago.is_negative() && !judging.servers_are_stopped {
        let ahead = -ago.whole_seconds();
        return Err(ArchiveError::Refused(format!(
            "a server on the {on} said that it runs at a time that is {ahead} seconds in the future: a clock is wrong, or was, so \
             it cannot be known whether that server still runs; set the clocks right, stop all servers, and if none runs, add \
             --servers-are-stopped"
        )));
    }
    if holdings.clock.is_none() || ago.is_negative() {
        watch(database, on, seen_at, judging)?;
    }
    Ok(holdings)
}

/// Fails if the server that was seen says meanwhile that it runs.
fn watch(
    database: &mut dyn ArchiveTarget,
    on: &str,
    seen_at: OffsetDateTime,
    judging: &mut Judging<'_>,
) -> Result<(), ArchiveError> {
    let seconds = WATCHED.as_secs();
    (judging.notice)(&format!(
        "a server did not say that it stopped; watching the {on} for {seconds} seconds, to see whether it still runs"
    ));
    let mut waited = Pause::ZERO;
    while waited < WATCHED {
        (judging.pause)(LOOK_EVERY)?;
        waited += LOOK_EVERY;
        if database.holdings()?.server_seen_at.is_some_and(|now| now != seen_at) {
            return Err(runs(on, "it said so just now, and its clock differs from that of this machine"));
        }
    }
    Ok(())
}

fn runs(on: &str, how: &str) -> ArchiveError {
    ArchiveError::Refused(format!(
        "a server runs on the {on}: {how}; stop all servers, and if one was killed, wait a minute"
    ))
}
