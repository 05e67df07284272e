//! Rows that no operation writes stand among the events that wait. The others are sealed around them, and everyone who
//! asks hears of them (F-25).

use std::thread;
use std::time::Duration;

use countersign_tests::{Database, on_both};
use serde_json::Value;

use super::{end_leases, event, wait_for};

/// Columns of a fresh event that make it another one.
const COLUMNS: &str =
    "kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, signed";

/// An id of this number, as SQL.
fn id(database: &Database, number: u32) -> String {
    let id = format!("01900000-0000-7000-8000-{number:012x}");
    if database.is_postgres() { format!("'{id}'::uuid") } else { format!("x'{}'", id.replace('-', "")) }
}

fn fresh(database: &Database) -> i64 {
    database.number("SELECT count(*) FROM fresh_events")
}

on_both! {
    /// One row of an impossible kind and a copy of a sealed event, both older than everything else.
    fn f_25_one_unreadable_row_and_one_copy_stop_no_seal_and_are_reported_everywhere(database) {
        let mut server = database.start();
        let client = server.register();
        server.sign_in(&client);
        wait_for("seal", || fresh(database) == 0);
        let sealed = database.number("SELECT count(*) FROM events");
        for (number, what) in [(1, "kind = 'x'"), (2, "peer = 'nowhere'")] {
            let (column, value) = what.split_once(" = ").unwrap();
            let columns = COLUMNS.replace(column, value);
            let id = id(database, number);
            database.change(&format!(
                "INSERT INTO fresh_events (id, {COLUMNS}) SELECT {id}, {columns} FROM events WHERE position = 1"
            ));
        }
        database.change(&format!(
            "INSERT INTO fresh_events (id, {COLUMNS}) SELECT id, {COLUMNS} FROM events WHERE position = 1"
        ));
        server.sign_in(&client);
        wait_for("seal around", || database.number("SELECT count(*) FROM events") > sealed);
        wait_for("seal of all others", || fresh(database) == 3);
        wait_for("word from readiness", || {
            let ready = server.get("/health/ready").expect(200).json();
            ready["events"].as_str().is_some_and(|events| events.contains("3 among the events cannot be sealed"))
        });
        let metrics = server.get("/metrics").text();
        assert!(metrics.contains("countersign_event_unsealable 3"), "{metrics}");
        assert!(String::from_utf8_lossy(&server.log()).contains("the record of events is incomplete"));

        let listed = event(database, &["list", "--output", "json"]);
        let shown: Vec<Value> = serde_json::from_str(&listed.out).unwrap();
        assert_eq!(listed.code, 0);
        assert_eq!(i64::try_from(shown.len()).unwrap(), database.number("SELECT count(*) FROM events"));
        assert!(listed.err.contains("event verify"), "{}", listed.err);
        let doctor = String::from_utf8(database.operator(&["doctor"]).output().unwrap().stdout).unwrap();
        assert!(doctor.contains("3 among the events cannot be sealed"), "{doctor}");

        let verified = event(database, &["verify", "--output", "json"]);
        let told: Value = serde_json::from_str(&verified.out).unwrap();
        assert_eq!((verified.code, &told["holds"]), (1, &Value::Bool(false)), "{told}");
        let problems: Vec<_> = told["cannot_be_sealed"].as_array().unwrap().iter().map(|row| &row["problem"]).collect();
        assert_eq!(problems, ["impossible kind", "impossible peer", "an event with its id is sealed already"]);
        let text = event(database, &["verify"]).out;
        assert!(text.starts_with("what is sealed holds: "), "{text}");

        database.change("DELETE FROM fresh_events");
        assert_eq!(event(database, &["verify"]).code, 0);
        wait_for("readiness again", || {
            server.get("/health/ready").expect(200).json().get("events").is_none()
        });
        server.kill9();
    }

    /// A position that is taken stops the sealing. What waits then is reported, though every id is new.
    fn f_25_events_that_wait_for_longer_than_a_minute_are_reported_everywhere(database) {
        let mut server = database.start();
        let client = server.register();
        server.sign_in(&client);
        wait_for("seal", || fresh(database) == 0);
        let next = database.number("SELECT max(position) FROM events") + 1;
        let other = id(database, 9);
        database.change(&format!(
            "INSERT INTO events (position, id, {COLUMNS}, salt, commitment) \
             SELECT {next}, {other}, {COLUMNS}, salt, commitment FROM events WHERE position = 1"
        ));
        server.sign_in(&client);
        thread::sleep(Duration::from_secs(75));
        wait_for("word from readiness", || {
            let ready = server.get("/health/ready").expect(200).json();
            ready["events"].as_str().is_some_and(|events| events.contains("more than a minute"))
        });
        let doctor = String::from_utf8(database.operator(&["doctor"]).output().unwrap().stdout).unwrap();
        assert!(doctor.contains("more than a minute"), "{doctor}");
        let seconds = server.get("/metrics").text();
        let seconds = seconds.lines().find_map(|line| line.strip_prefix("countersign_event_seal_wait_seconds "));
        assert!(seconds.unwrap().parse::<u32>().unwrap() > 60, "{seconds:?}");
        server.kill9();
        database.change(&format!("DELETE FROM events WHERE position = {next}"));
        let told: Value = serde_json::from_str(&event(database, &["verify", "--output", "json"]).out).unwrap();
        assert_eq!((&told["holds"], told["waiting_too_long"].as_u64() > Some(0)), (&Value::Bool(false), true));
        end_leases(database);
        server.restart();
        wait_for("seal", || fresh(database) == 0);
        assert_eq!(event(database, &["verify"]).code, 0);
    }
}
