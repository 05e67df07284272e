//! What to make of the facts about a PostgreSQL database.

use countersign_adapters_postgres::Examined;

use super::finding::Finding;
use super::schema;
use crate::wiring::Examination;

/// The oldest major release that the tests run on.
const TESTED: i32 = 15;
/// How many connections a server opens.
const POOL: i64 = 10;

/// The findings about a database.
pub(crate) fn examination(facts: &Examined) -> Examination {
    let kind = format!("PostgreSQL {}", facts.version);
    let mut findings = vec![schema::judged(&kind, facts.bytes, &facts.missing, &facts.newer)];
    findings.extend(schema::beside(&facts.absent, &facts.foreign));
    if facts.major < TESTED {
        findings.push(Finding::warn(
            "database",
            format!("PostgreSQL {} is older than what the tests run on, {TESTED}", facts.major),
            format!("upgrade it to {TESTED} or later"),
        ));
    }
    if !facts.closed.is_empty() {
        let (role, tables) = (&facts.role, facts.closed.join(", "));
        findings.push(Finding::fail(
            "database",
            format!("the role {role} cannot read and write {tables}"),
            format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"),
        ));
    }
    if facts.connections_left < POOL {
        let left = facts.connections_left.max(0);
        findings.push(Finding::warn(
            "database",
            format!("{left} more connections are possible, and each server opens up to {POOL}"),
            "raise max_connections, end what holds them, or use PgBouncer (docs/scaling.md)",
        ));
    }
    findings.extend(durability(facts));
    Examination {
        findings,
        is_current: facts.missing.is_empty() && facts.closed.is_empty() && facts.absent.is_empty(),
    }
}

fn durability(facts: &Examined) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !facts.fsync {
        findings.push(Finding::fail(
            "durability",
            "fsync is off: after a crash of the machine the database can be destroyed, and with it what was answered",
            "set fsync = on in postgresql.conf, and restart PostgreSQL",
        ));
    }
    if !facts.full_page_writes {
        findings.push(Finding::fail(
            "durability",
            "full_page_writes is off: after a crash of the machine, halves of pages can be left",
            "set full_page_writes = on in postgresql.conf, and reload PostgreSQL",
        ));
    }
    if facts.synchronous_commit == "off" {
        findings.push(Finding::warn(
            "durability",
            "synchronous_commit is off for this role; the server turns it on for its own connections, which a pooler in \
             transaction mode would lose",
            format!("ALTER ROLE {} SET synchronous_commit = on", facts.role),
        ));
    }
    if !facts.autovacuum {
        findings.push(Finding::warn(
            "durability",
            "autovacuum is off: dead rows stay, and the database grows without end",
            "set autovacuum = on in postgresql.conf, and reload PostgreSQL",
        ));
    }
    if findings.is_empty() {
        let said = format!(
            "each answer waits for the disk (fsync, synchronous_commit = {})",
            facts.synchronous_commit
        );
        findings.push(Finding::ok("durability", said));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::Health;

    fn facts() -> Examined {
        Examined {
            version: "15.14".to_owned(),
            major: 15,
            bytes: 12_000_000,
            missing: Vec::new(),
            newer: Vec::new(),
            absent: Vec::new(),
            foreign: Vec::new(),
            role: "countersign".to_owned(),
            closed: Vec::new(),
            fsync: true,
            full_page_writes: true,
            autovacuum: true,
            synchronous_commit: "on".to_owned(),
            connections_left: 90,
        }
    }

    fn unwell(facts: &Examined) -> Vec<(&'static str, Health)> {
        let findings = examination(facts).findings.into_iter();
        findings.filter(|found| found.health != Health::Ok).map(|found| (found.check, found.health)).collect()
    }

    #[test]
    fn each_fact_that_is_not_well_is_told() {
        assert_eq!(unwell(&facts()), []);
        let [database, durability] = ["database", "durability"];
        let note = countersign_domain::archive::ForeignPart::Table { name: "note".to_owned() };
        let cases = [
            (Examined { major: 13, ..facts() }, database, Health::Warn),
            (Examined { closed: vec!["grants".to_owned()], ..facts() }, database, Health::Fail),
            (Examined { absent: vec!["grants".to_owned()], ..facts() }, database, Health::Fail),
            (Examined { foreign: vec![note.clone()], ..facts() }, database, Health::Warn),
            (Examined { connections_left: 9, ..facts() }, database, Health::Warn),
            (Examined { newer: vec!["20990101".to_owned()], ..facts() }, database, Health::Warn),
            (Examined { missing: vec!["2026-12-02-000003_x".to_owned()], ..facts() }, database, Health::Warn),
            (Examined { fsync: false, ..facts() }, durability, Health::Fail),
            (Examined { full_page_writes: false, ..facts() }, durability, Health::Fail),
            (Examined { synchronous_commit: "off".to_owned(), ..facts() }, durability, Health::Warn),
            (Examined { autovacuum: false, ..facts() }, durability, Health::Warn),
        ];
        for (facts, check, health) in cases {
            assert_eq!(unwell(&facts), [(check, health)], "{facts:?}");
        }
    }
}
