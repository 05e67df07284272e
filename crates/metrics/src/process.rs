//! The process as Linux reports it. On other systems nothing is reported.

use std::fs;

/// Clock ticks per second in `/proc` (`USER_HZ`). It is the same on every machine that Linux runs on today.
const TICKS: f64 = 100.0;

/// What the kernel reports about the process. The reader of the page waits for it, so it holds only what is
/// quick to get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Process {
    /// Resident memory, in bytes.
    pub(crate) resident: u64,
    /// CPU time of all threads, in seconds.
    pub(crate) cpu: f64,
}

impl Process {
    /// Reads the current values.
    pub(crate) fn look() -> Option<Self> {
        let resident = line("/proc/self/status", "VmRSS:")?;
        let stat = stat()?;
        let cpu = (ticks(&stat, 14)? + ticks(&stat, 15)?) / TICKS;
        Some(Self { resident: u64::from(resident) * 1024, cpu })
    }
}

/// When the process started, in seconds since 1970. It never changes, and the kernel takes a while to tell
/// it.
pub(crate) fn started() -> Option<f64> {
    Some(f64::from(line("/proc/stat", "btime")?) + ticks(&stat()?, 22)? / TICKS)
}

/// The line that describes this process.
fn stat() -> Option<String> {
    fs::read_to_string("/proc/self/stat").ok()
}

/// One field of that line, by its number in the kernel's documentation.
fn ticks(stat: &str, field: usize) -> Option<f64> {
    // The program's name can contain spaces. After its closing parenthesis, from the third field on, there
    // are only numbers.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(field - 3)?.parse().ok()
}

/// The number after a name at the start of a line.
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
