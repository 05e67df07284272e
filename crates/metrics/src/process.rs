//! The process as Linux sees it; elsewhere nothing is known.

use std::fs;

/// Ticks of a second in `/proc`: the same on every machine that Linux is built for today (`USER_HZ`).
const TICKS: f64 = 100.0;

/// What the machine says about the process now. Whoever asks waits for it, so it is only what the kernel has at hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Process {
    /// The memory that it holds, in bytes.
    pub(crate) resident: u64,
    /// The time that all its threads worked, in seconds.
    pub(crate) cpu: f64,
}

impl Process {
    /// Looks.
    pub(crate) fn look() -> Option<Self> {
        let resident = line("/proc/self/status", "VmRSS:")?;
        let stat = stat()?;
        let cpu = (ticks(&stat, 14)? + ticks(&stat, 15)?) / TICKS;
        Some(Self { resident: u64::from(resident) * 1024, cpu })
    }
}

/// When the process was started, in seconds since 1970. It never changes, and takes the kernel a while.
pub(crate) fn started() -> Option<f64> {
    Some(f64::from(line("/proc/stat", "btime")?) + ticks(&stat()?, 22)? / TICKS)
}

/// The process's own line.
fn stat() -> Option<String> {
    fs::read_to_string("/proc/self/stat").ok()
}

/// One field of that line, by its number in the kernel's description.
fn ticks(stat: &str, field: usize) -> Option<f64> {
    // The name of the program may hold spaces; what follows its parenthesis is numbers, from the third field on.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(field - 3)?.parse().ok()
}

/// The number behind a name at the beginning of a line.
fn line(path: &str, name: &str) -> Option<u32> {
    let text = fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_about_this_process() {
        let process = Process::look().unwrap();
        assert!((1 << 20..1 << 40).contains(&process.resident) && process.cpu >= 0.0, "{process:?}");
        assert!(started().is_some_and(|started| started > 1_600_000_000.0));
    }
}
