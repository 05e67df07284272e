//! How far a work is, on a terminal: one line, written again and again. In a pipe or a log there is none.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use countersign_operators::saved::save::{Progress, Step};

/// How often the line is written.
const EVERY: Duration = Duration::from_millis(200);

/// Shows the progress of a work.
pub(super) struct Teller {
    begun_at: Instant,
    told_at: Option<Instant>,
    is_read: bool,
}

impl Teller {
    pub(super) fn new() -> Self {
        Self { begun_at: Instant::now(), told_at: None, is_read: io::stderr().is_terminal() }
    }

    /// Writes the line, unless that was done a moment ago.
    pub(super) fn tell(&mut self, progress: Progress) {
        let is_due = self.told_at.is_none_or(|at| at.elapsed() >= EVERY);
        if !self.is_read || !is_due {
            return;
        }
        self.told_at = Some(Instant::now());
        // A line that cannot be written does not stop the work.
        let _ = write!(io::stderr().lock(), "\r\x1b[K{}", line(progress, self.begun_at.elapsed()));
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if self.told_at.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn line(progress: Progress, taken: Duration) -> String {
    let step = match progress.step {
        Step::Checking => "checking",
        Step::Storing => "storing",
        Step::Comparing => "comparing",
    };
    let Progress { rows, of, .. } = progress;
    let percent = (rows * 100).checked_div(of).unwrap_or(100).min(100);
    format!("{step}: {rows} of {of} rows ({percent} %), {} s", taken.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_rows_of_how_many_and_seconds() {
        let progress = Progress { step: Step::Storing, rows: 1_500, of: 6_000 };
        assert_eq!(line(progress, Duration::from_millis(7_900)), "storing: 1500 of 6000 rows (25 %), 7 s");
        let nothing = Progress { step: Step::Checking, rows: 0, of: 0 };
        assert_eq!(line(nothing, Duration::ZERO), "checking: 0 of 0 rows (100 %), 0 s");
    }
}
