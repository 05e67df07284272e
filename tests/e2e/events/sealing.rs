//! Events are sealed once, whoever seals and whoever is killed, and verified however many there are.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::load::Load;
use countersign_tests::{Database, on_both};

use super::{end_leases, told, verified, wait_for, wait_until_sealed};

/// How many events are sealed and verified. `make event-many` takes ten million.
const EVENTS: u64 = 10_000;

/// Stores fresh events by SQL: sign-ins, the oldest so many seconds ago, 25 in a millisecond.
fn store_fresh(database: &Database, count: u64, seconds: u32) {
    let columns = "id, kind, actor, user_id, family, chain, address, client_id, peer, request, details";
    let step = 500_000;
    for first in (0..count).step_by(usize::try_from(step).unwrap()) {
        let last = (first + step).min(count) - 1;
        let sql = if database.is_postgres() {
            format!(
                "INSERT INTO fresh_events ({columns}) SELECT \
                 CAST(lpad(to_hex(CAST(extract(epoch FROM now()) * 1000 AS BIGINT) - {seconds} * 1000 + n / 25), 12, '0') \
                   || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0') AS UUID), \
                 'sign_in', 'person', CAST(md5(CAST(n % 100000 AS TEXT)) AS UUID), 'eip155', 'eip155:1', \
                 '0x' || substr(md5(CAST(n AS TEXT)) || md5(CAST(n AS TEXT)), 1, 40), \
                 CAST(md5(CAST(n % 100 AS TEXT)) AS UUID), '192.0.2.0/24', 'request', \
                 '{{\"way\":\"browser\",\"session\":false}}' FROM generate_series(CAST({first} AS BIGINT), {last}) AS n"
            )
        } else {
            format!(
                "INSERT INTO fresh_events ({columns}) \
                 WITH RECURSIVE numbers (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) \
                 SELECT unhex(printf('%012x7%03x8%015x', (CAST(strftime('%s', 'now') AS INTEGER) - {seconds}) * 1000 + n / 25, \
                   n % 4096, n)), \
                 'sign_in', 'person', unhex(printf('5f3c2d1e000040008000%012x', n % 100000)), 'eip155', 'eip155:1', \
                 printf('0x%040x', n), unhex(printf('5f3c2d1f000040008000%012x', n % 100)), '192.0.2.0/24', 'request', \
                 '{{\"way\":\"browser\",\"session\":false}}' FROM numbers"
            )
        };
        database.change(&sql);
    }
}

/// Each sealed event is at one position, and none is fresh any more.
#[track_caller]
fn expect_sealed(database: &Database, count: i64) {
    let sealed = database.number("SELECT count(*) FROM events");
    let distinct = database.number("SELECT count(DISTINCT id) FROM events");
    let last = database.number("SELECT max(position) FROM events");
    assert_eq!((sealed, distinct, last), (count, count, count));
    assert_eq!(database.number("SELECT count(*) FROM fresh_events"), 0);
    let answer = verified(database);
    assert_eq!((answer["events"].as_i64(), answer["not_sealed_yet"].as_i64()), (Some(count), Some(0)));
}

on_both! {
    /// Two replicas under load; the one that seals is killed, and its lease passes to the other.
    fn two_replicas_seal_each_event_once_and_one_goes_on_when_the_other_is_killed(database) {
        let first = database.start();
        let second = first.replica();
        let mut replicas = [first, second];
        let load = Load::start(&[replicas[0].site(), replicas[1].site()], 4);
        load.wait_for(100);
        wait_for("the first checkpoint", || database.number("SELECT count(*) FROM checkpoints") > 0);
        load.wait_for(100);
        load.stop();
        wait_until_sealed(database, 2);
        expect_sealed(database, i64::try_from(told(database).len()).unwrap());

        // Whose lease it is, nobody can see: so one of them is killed, and then the other.
        for turn in 0..2 {
            let checkpoints = database.number("SELECT count(*) FROM checkpoints");
            replicas[turn].kill9();
            let killed = Instant::now();
            let load = Load::start(&[replicas[1 - turn].site()], 2);
            load.wait_for(50);
            load.stop();
            wait_until_sealed(database, checkpoints + 1);
            println!("sealed {:?} after a replica was killed", killed.elapsed());
            assert!(killed.elapsed() < Duration::from_secs(50), "{:?}", killed.elapsed());
            replicas[turn].restart();
        }
        expect_sealed(database, i64::try_from(told(database).len()).unwrap());
    }

    /// A replica that is told to stop lets another go on at once.
    fn a_replica_that_stops_gives_its_lease_back(database) {
        let mut server = database.start();
        wait_for("a lease", || database.number("SELECT count(*) FROM leases") > 0);
        server.terminate();
        let in_a_moment = if database.is_postgres() {
            "now() + interval '1 second'"
        } else {
            "(CAST(strftime('%s', 'now') AS INTEGER) + 2) * 1000000"
        };
        assert_eq!(
            database.number(&format!("SELECT count(*) FROM leases WHERE held_until > {in_a_moment}")),
            0
        );
    }

    fn who_is_killed_while_it_seals_leaves_what_holds_and_another_goes_on(database) {
        // None is older than what a command calls late.
        store_fresh(database, 6_000, 10);
        let sign_ins = || told(database).iter().filter(|event| event.kind == "sign_in").count();
        let mut server = database.start();
        for checkpoints in [1, 3] {
            wait_for("a checkpoint", || database.number("SELECT count(*) FROM checkpoints") >= checkpoints);
            server.kill9();
            let answer = verified(database);
            println!("killed with {} events sealed", answer["events"]);
            assert_eq!(sign_ins(), 6_000, "none is lost and none is there twice");
            end_leases(database);
            server.restart();
        }
        wait_until_sealed(database, 6);
        server.kill9();
        expect_sealed(database, i64::try_from(told(database).len()).unwrap());
    }

    /// Verifying tells how far it is, and needs no more memory for more events.
    fn many_events_are_verified_with_progress_and_in_little_memory(database) {
        let count = std::env::var("EVENTS").map_or(EVENTS, |count| count.parse().unwrap());
        let began = Instant::now();
        store_fresh(database, count, 3_600);
        println!("{count} events stored in {:?}", began.elapsed());
        let began = Instant::now();
        let mut server = database.start();
        let mut last = (Instant::now(), 0);
        while database.number("SELECT count(*) FROM (SELECT 1 FROM fresh_events LIMIT 1) AS fresh") != 0 {
            let sealed = database.number("SELECT coalesce(max(number), 0) FROM checkpoints");
            if sealed != last.1 {
                last = (Instant::now(), sealed);
            }
            assert!(last.0.elapsed() < Duration::from_secs(600), "no event was sealed for ten minutes");
            thread::sleep(Duration::from_millis(200));
        }
        println!("sealed in {:?}; the server's peak: {} KiB", began.elapsed(), peak(server.process_id()).unwrap());
        server.kill9();

        let began = Instant::now();
        let told = database.folder().join("progress");
        let mut verify = database
            .operator(&["event", "verify", "--output", "json"])
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&told).unwrap())
            .spawn()
            .unwrap();
        let mut most = 0;
        while verify.try_wait().unwrap().is_none() {
            most = peak(verify.id()).unwrap_or(most).max(most);
            thread::sleep(Duration::from_millis(20));
        }
        let took = began.elapsed();
        let output = verify.wait_with_output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        println!("verified in {took:?}; peak: {most} KiB; {answer}");
        assert!(output.status.success() && answer["events"].as_u64() >= Some(count), "{answer}");
        assert!(most < 100 * 1024, "{most} KiB");
        let told = fs::read_to_string(&told).unwrap();
        let steps = told.lines().filter(|line| line.contains("comparing events: ")).count();
        println!("{steps} lines of progress, such as: {}", told.lines().last().unwrap_or_default());
        assert!(steps > 0 || took < Duration::from_secs(3), "{took:?}: {told}");
    }
}

/// The most memory that a process had, in KiB.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
