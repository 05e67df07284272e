//! Whether a schema is that of this release: the same for every database.

use countersign_domain::archive::ForeignPart;

use super::finding::Finding;
use crate::output::terminal::count;

/// The finding about a database of this kind and size, with the migrations that it lacks and those that this release
/// does not know.
pub(crate) fn judged(kind: &str, bytes: u64, missing: &[String], newer: &[String]) -> Finding {
    let size = size(bytes);
    if !missing.is_empty() {
        let number = u64::try_from(missing.len()).unwrap_or(u64::MAX);
        return Finding::warn(
            "database",
            format!(
                "{kind}, {size}; {} of this release did not run: {}",
                count(number, "migration"),
                missing.join(", ")
            ),
            "start the server, or run `countersign migrate`; back up first",
        );
    }
    if !newer.is_empty() {
        return Finding::warn(
            "database",
            format!("{kind}, {size}; a newer release was here: this one does not know {}", newer.join(", ")),
            "use the newer release; this one works on that schema only as long as both run side by side",
        );
    }
    Finding::ok("database", format!("{kind}, {size}, the schema is that of this release"))
}

/// The findings about what is missing, and about what belongs to other programs.
pub(crate) fn beside(absent: &[String], foreign: &[ForeignPart]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !absent.is_empty() {
        findings.push(Finding::fail(
            "database",
            format!("tables or columns of Countersign are missing: {}", absent.join(", ")),
            "another program removed them: stop the server, find out which, and restore the newest backup into an empty \
             database (docs/backup.md)",
        ));
    }
    let (required, others): (Vec<_>, Vec<_>) =
        foreign.iter().partition(|part| matches!(part, ForeignPart::Column { is_required: true, .. }));
    let names =
        |parts: Vec<&ForeignPart>| parts.iter().map(|part| part.to_string()).collect::<Vec<_>>().join(", ");
    if !required.is_empty() {
        findings.push(Finding::fail(
            "database",
            format!("not of Countersign, and needs a value in each row: {}", names(required)),
            "give it a default, or let it be NULL: the server can store nothing in that table",
        ));
    }
    if !others.is_empty() {
        findings.push(Finding::warn(
            "database",
            format!("not of Countersign, and in no backup: {}", names(others)),
            "save it apart, or move it into a database of its own; `backup` and `restore` leave it alone",
        ));
    }
    findings
}

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let (unit, divisor) = units.into_iter().find(|(_, divisor)| bytes >= *divisor).unwrap_or(("bytes", 1));
    let (whole, tenth) = (bytes / divisor, bytes % divisor * 10 / divisor);
    if divisor == 1 || whole >= 10 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_250, "1.2 kB"),
            (12_500_000, "12 MB"),
            (47_000_000_000, "47 GB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
    }
}
