//! What to make of the facts about an SQLite database.

use std::path::Path;

use countersign_adapters_sqlite::{Examined, Search};

use super::finding::{Finding, Health};
use super::schema;
use crate::wiring::Examination;

/// With less room than this, writes will soon be refused.
const FULL: u64 = 64 * 1024 * 1024;
/// With less room than this, it is time to look.
const NARROW: u64 = 1024 * 1024 * 1024;

/// The findings about the database at this path.
pub(crate) fn examination(path: &Path, facts: &Examined) -> Examination {
    let kind = format!("SQLite {}", facts.version);
    let schema = schema::judged(&kind, facts.bytes, &facts.missing, &facts.newer);
    let beside = schema::beside(&facts.absent, &facts.foreign);
    let findings =
        [schema].into_iter().chain(beside).chain([durability(path, facts)]).chain(disk(path)).collect();
    let is_current = facts.missing.is_empty() && facts.absent.is_empty() && !is_damaged(facts);
    Examination { findings, is_current }
}

fn is_damaged(facts: &Examined) -> bool {
    matches!(facts.search, Some(Search::Damaged(_)))
}

fn durability(path: &Path, facts: &Examined) -> Finding {
    if let Some(Search::Damaged(reason)) = &facts.search {
        return Finding::fail(
            "durability",
            format!("{} is damaged: {reason}", path.display()),
            "stop the server, keep a copy of the file with its -wal, and restore the newest backup (docs/backup.md); then \
             look at the disk, and for programs that copy or change the file",
        );
    }
    if facts.journal_mode != "wal" {
        return Finding::warn(
            "durability",
            format!("the log is off (journal_mode is {}): another program changed that", facts.journal_mode),
            "start the server, which turns it on, and keep other programs from the file",
        );
    }
    let waits = "each answer waits for the disk (WAL, synchronous = FULL)";
    Finding::ok(
        "durability",
        if facts.search.is_some() {
            format!("{waits}, and nothing is damaged")
        } else {
            format!(
                "{waits}; the file is too large to search for damage each time (`sqlite3 FILE 'PRAGMA integrity_check'` \
                 does)"
            )
        },
    )
}

/// The room that is left, if the system reports it.
fn disk(path: &Path) -> Option<Finding> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.parent()?;
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(room(folder, disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_files > 0 && disk.f_favail == 0))
}

fn room(folder: &Path, free: u64, has_no_inodes: bool) -> Finding {
    let (folder, left) = (folder.display(), schema::size(free));
    let advice = "make room: while the disk is full, no one can sign in";
    if has_no_inodes {
        return Finding::fail("disk", format!("no more files can be made at {folder} (inodes)"), advice);
    }
    let health = match free {
        ..FULL => Health::Fail,
        FULL..NARROW => Health::Warn,
        NARROW.. => Health::Ok,
    };
    let advice = (health != Health::Ok).then(|| advice.to_owned());
    Finding { check: "disk", health, message: format!("{left} are free at {folder}"), advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Examined {
        Examined {
            version: "3.50.0".to_owned(),
            journal_mode: "wal".to_owned(),
            bytes: 1_250,
            search: Some(Search::Sound),
            missing: Vec::new(),
            newer: Vec::new(),
            absent: Vec::new(),
            foreign: Vec::new(),
        }
    }

    fn health(facts: &Examined) -> Vec<(&'static str, Health)> {
        let found = examination(Path::new("/tmp/a.db"), facts).findings;
        found.iter().filter(|found| found.check != "disk").map(|found| (found.check, found.health)).collect()
    }

    #[test]
    fn a_sound_database_is_well_and_a_large_one_is_not_searched() {
        assert_eq!(health(&facts()), [("database", Health::Ok), ("durability", Health::Ok)]);
        assert_eq!(health(&Examined { search: None, ..facts() })[1].1, Health::Ok);
    }

    #[test]
    fn a_damaged_database_is_not_opened_and_neither_is_one_that_a_start_would_change() {
        let damaged = Examined { search: Some(Search::Damaged("a page is lost".to_owned())), ..facts() };
        assert_eq!(health(&damaged)[1].1, Health::Fail);
        let old = Examined { missing: vec!["2026-12-02-000003_x".to_owned()], ..facts() };
        for facts in [damaged, old] {
            assert!(!examination(Path::new("/tmp/a.db"), &facts).is_current);
        }
        assert!(examination(Path::new("/tmp/a.db"), &facts()).is_current);
    }

    #[test]
    fn a_disk_is_judged_by_the_room_that_is_left() {
        let health = |free, has_no_inodes| room(Path::new("/var/lib"), free, has_no_inodes).health;
        assert_eq!(health(FULL - 1, false), Health::Fail);
        assert_eq!(health(FULL, false), Health::Warn);
        assert_eq!(health(NARROW, false), Health::Ok);
        assert_eq!(health(NARROW, true), Health::Fail);
    }
}
