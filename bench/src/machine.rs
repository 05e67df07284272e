//! What the operating system reports about processes and the machine, from `/proc`.

use std::fs;
use std::time::Duration;

/// Ticks per second of the times in `/proc`: `USER_HZ`, which is 100 everywhere on Linux.
const TICKS: u64 = 100;

/// Processor time, including kernel time, of a process, its descendants and those that it has reaped.
pub fn processor_time(root: u32) -> Duration {
    let times = tree(root).into_iter().filter_map(stat).map(|(_, ticks)| ticks);
    Duration::from_millis(times.sum::<u64>() * 1_000 / TICKS)
}

/// Processor time of this process alone.
pub fn own_processor_time() -> Duration {
    let ticks = stat(std::process::id()).map_or(0, |(_, ticks)| ticks);
    Duration::from_millis(ticks * 1_000 / TICKS)
}

/// Resident memory of a process, in KiB.
pub fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    number_in(&status, "VmRSS:")
}

/// The machine in one line: number and model of the processors, memory, kernel.
pub fn description() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let information = read("/proc/cpuinfo");
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim()).to_owned();
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = number_in(&read("/proc/meminfo"), "MemTotal:") / 1024 / 1024;
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{processors} cores ({model}), {memory} GiB of memory, Linux {}", kernel.trim())
}

/// A process and its descendants.
fn tree(root: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|process| stat(process).map(|(parent, _)| (process, parent)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
        next += 1;
    }
    found
}

/// The parent and the ticks of a process.
fn stat(process: u32) -> Option<(u32, u64)> {
    parse_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The name in parentheses may contain anything, so parsing starts after its end.
fn parse_stat(line: &str) -> Option<(u32, u64)> {
    let (_, rest) = line.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks: Option<u64> = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum();
    Some((fields.get(1)?.parse().ok()?, ticks?))
}

/// The first number after a label.
fn number_in(text: &str, label: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(label));
    value.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let line = "42 (a) b) S 7 42 42 0 -1 4194560 100 0 0 0 10 20 3 4 20 0 5 0 1 2 3";
        assert_eq!(parse_stat(line), Some((7, 37)));
    }

    #[test]
    fn a_number_is_found_behind_its_label() {
        assert_eq!(number_in("VmHWM:\t 20 kB\nVmRSS:\t   1234 kB\n", "VmRSS:"), 1234);
        assert_eq!(number_in("", "VmRSS:"), 0);
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(resident_kib(std::process::id()) > 100);
    }
}
