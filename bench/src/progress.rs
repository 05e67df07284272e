//! Shows the progress of a run, and how long it will take.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: usize = 24;

/// A progress bar on a terminal, lines in a file.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    done: usize,
    started: Instant,
    is_terminal: bool,
}

impl Progress {
    /// Starts at none of this many cells.
    pub fn new(total: usize) -> Self {
        Self { total, done: 0, started: Instant::now(), is_terminal: io::stderr().is_terminal() }
    }

    /// Shows what is measured now.
    pub fn begin(&self, what: &str) {
        let line = line(self.done, self.total, self.started.elapsed(), what);
        let mut out = io::stderr().lock();
        // If the terminal was closed, nobody misses it.
        let _ = if self.is_terminal {
            write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush())
        } else {
            writeln!(out, "{line}")
        };
    }

    /// Counts one more cell.
    pub const fn end(&mut self) {
        self.done += 1;
    }

    /// Ends the progress line.
    pub fn finish(&self) {
        if self.is_terminal {
            let _ = writeln!(io::stderr());
        }
    }
}

fn line(done: usize, total: usize, elapsed: Duration, what: &str) -> String {
    let full = WIDTH * done / total.max(1);
    let bar = format!("{}{}", "#".repeat(full), "-".repeat(WIDTH - full));
    let left = match u32::try_from(done) {
        Ok(1..) => {
            let rest = u32::try_from(total.saturating_sub(done)).unwrap_or(u32::MAX);
            let seconds = (elapsed / u32::try_from(done).unwrap_or(1)).saturating_mul(rest).as_secs();
            format!("about {}m {:02}s left", seconds / 60, seconds % 60)
        }
        _ => "…".to_owned(),
    };
    format!("[{bar}] {done}/{total}  {what}  {left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_time_so_far() {
        let line = line(1, 4, Duration::from_secs(30), "login");
        assert_eq!(line, "[######------------------] 1/4  login  about 1m 30s left");
    }

    #[test]
    fn nothing_is_known_at_the_beginning() {
        assert!(line(0, 4, Duration::ZERO, "login").ends_with("login  …"));
        assert!(line(0, 0, Duration::ZERO, "nothing").contains("0/0"));
    }
}
