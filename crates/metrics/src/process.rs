//! The process as Linux sees it; elsewhere nothing is known.

use std::fs;

/// Ticks of a second in `/proc`: the same on every machine that Linux is built for today (`USER_HZ`).
const TICKS: f64 = 100.0;

/// What the machine says about the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Process {
    /// The memory that it holds, in bytes.
    pub(crate) resident: u64,
    /// The time that all its threads worked, in seconds.
    pub(crate) cpu: f64,
    /// When it was started, in seconds since 1970.
    pub(crate) started: f64,
    /// Files and connections that are open.
    pub(crate) open_files: u64,
}

impl Process {
    /// Looks.
    pub(crate) fn look() -> Option<Self> {
        let read = |path: &str| fs::read_to_string(path).ok();
        let stat = read("/proc/self/stat")?;
        // The name of the program may hold spaces; what follows its parenthesis is numbers, from the third field on.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
        let resident = line(&read("/proc/self/status")?, "VmRSS:")?;
        let booted = line(&read("/proc/stat")?, "btime")?;
        let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Self {
            resident: u64::from(resident) * 1024,
            cpu: (ticks(14)? + ticks(15)?) / TICKS,
            started: f64::from(booted) + ticks(22)? / TICKS,
            open_files: u64::try_from(open_files).ok()?,
        })
    }
}

/// The number behind a name at the beginning of a line.
fn line(text: &str, name: &str) -> Option<u32> {
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
        assert!((1 << 20..1 << 40).contains(&process.resident), "{process:?}");
        assert!(process.started > 1_600_000_000.0 && process.open_files >= 3, "{process:?}");
    }
}
