//! Whoever can write to the database alters events and checkpoints by SQL. `countersign event verify` finds and names
//! each alteration, without a running server.

use std::fs;

use countersign_tests::{Database, Wallet, on_both};
use serde_json::{Value, json};

use super::{end_leases, event, verified, wait_until_sealed};
use crate::people::Operator;
use crate::wallets::link;

/// Every column of an event, altered.
const EVENT: [(&str, &str); 22] = [
    ("id = :other_id", "altered or moved"),
    ("kind = 'sign_out'", "altered or moved"),
    ("kind = 'nonsense'", "impossible kind"),
    ("actor = 'cli:root@host'", "altered or moved"),
    ("actor = 'nonsense'", "impossible actor"),
    ("user_id = :other_id", "the person, the wallet or the address of event"),
    ("user_id = NULL", "the person, the wallet or the address of event"),
    ("family = 'solana'", "the person, the wallet or the address of event"),
    ("chain = 'eip155:2'", "the person, the wallet or the address of event"),
    (
        "address = '0x0000000000000000000000000000000000000001'",
        "the person, the wallet or the address of event",
    ),
    ("family = NULL, chain = NULL, address = NULL", "the person, the wallet or the address of event"),
    ("peer = '198.51.100.0/24'", "the person, the wallet or the address of event"),
    ("peer = NULL", "the person, the wallet or the address of event"),
    ("client_id = :other_id", "altered or moved"),
    ("client_id = NULL", "altered or moved"),
    ("request = 'another'", "altered or moved"),
    ("request = NULL", "altered or moved"),
    ("details = '{}'", "altered or moved"),
    ("salt = :bytes16", "the person, the wallet or the address of event"),
    ("commitment = :bytes32", "the person, the wallet or the address of event"),
    ("hiding_proof = :bytes32", "the person, the wallet or the address of event"),
    ("user_id = NULL, pseudonym = :bytes16", "the person, the wallet or the address of event"),
];

/// Every column of a checkpoint, altered.
const CHECKPOINT: [(&str, &str); 10] = [
    ("sealed_at = sealed_at + :minute", "its signature does not fit"),
    ("first_position = first_position + 1", "its signature does not fit"),
    ("events = events + 1", "its signature does not fit"),
    ("events = -1", "its row was altered: impossible events"),
    ("root = :bytes32", "its signature does not fit"),
    ("previous = :bytes32", "its signature does not fit"),
    ("kept_from = kept_from + 1", "its signature does not fit"),
    ("jws = replace(jws, '.', 'x.')", "its signature does not fit"),
    ("jws = (SELECT jws FROM checkpoints WHERE number = 1)", "its signature does not fit"),
    ("root = :bytes1", "its row was altered: impossible root"),
];

/// A database whose events are sealed, and whose server is gone.
struct Evidence<'a> {
    database: &'a Database,
    /// A sealed event of the second checkpoint: the sign-in of somebody who is still there.
    position: i64,
}

impl<'a> Evidence<'a> {
    /// Three checkpoints, with an account that was deleted.
    fn of(database: &'a Database) -> Self {
        let mut server = database.start();
        let client = server.register();
        let gone = Wallet::fresh();
        server.browser().sign_in(&client, &gone);
        wait_until_sealed(database, 1);
        let sealed = database.number("SELECT max(position) FROM events");
        Operator::of(&server).text(&["user", "delete", &gone.address(), "--yes"]);
        let (mine, other) = (Wallet::fresh(), Wallet::fresh());
        server.tokens(&client);
        server.browser().sign_in(&client, &mine);
        link(&server, &mine, &other).expect(200);
        let position =
            format!("SELECT min(position) FROM events WHERE kind = 'sign_in' AND position > {sealed}");
        wait_until_sealed(database, 2);
        server.sign_in(&client);
        wait_until_sealed(database, 3);
        server.kill9();
        for table in ["events", "checkpoints"] {
            database.change(&format!("CREATE TABLE saved_{table} AS SELECT * FROM {table}"));
        }
        Self { database, position: database.number(&position) }
    }

    /// Carries out SQL in which values are written as each database wants them.
    fn change(&self, sql: &str) {
        let bytes = |count: usize| {
            let digits = "5a".repeat(count);
            if self.database.is_postgres() { format!("'\\x{digits}'::bytea") } else { format!("x'{digits}'") }
        };
        let (id, minute) = if self.database.is_postgres() {
            ("'5a5a5a5a-5a5a-7a5a-9a5a-5a5a5a5a5a5a'", "interval '1 minute'")
        } else {
            ("x'5a5a5a5a5a5a7a5a9a5a5a5a5a5a5a5a'", "60000000")
        };
        let sql =
            sql.replace(":bytes16", &bytes(16)).replace(":bytes32", &bytes(32)).replace(":bytes1", &bytes(1));
        self.database.change(&sql.replace(":other_id", id).replace(":minute", minute));
    }

    fn restore(&self) {
        for table in ["events", "checkpoints"] {
            self.change(&format!("DELETE FROM {table}"));
            self.change(&format!("INSERT INTO {table} SELECT * FROM saved_{table}"));
        }
    }

    /// What `verify` says about altered data, in both outputs; afterwards the data are as before.
    #[track_caller]
    fn finding(&self, alteration: &str, more: &[&str]) -> (u64, String) {
        self.change(alteration);
        let text = event(self.database, &[&["verify"], more].concat());
        let found = event(self.database, &[&["verify", "--output", "json"], more].concat());
        self.restore();
        assert_eq!((text.code, found.code), (1, 1), "{alteration}: {text:?}");
        let found: Value = serde_json::from_str(&found.out).unwrap();
        let problem = found["problem"].as_str().unwrap().to_owned();
        assert_eq!(found["holds"], false);
        assert_eq!(text.out, format!("does not hold: {problem}\n"));
        (found["checkpoint"].as_u64().unwrap(), problem)
    }

    #[track_caller]
    fn expect(&self, alteration: &str, checkpoint: u64, named: &str) {
        let (found, problem) = self.finding(alteration, &[]);
        let start = format!("checkpoint {checkpoint}: ");
        assert!(
            found == checkpoint && problem.starts_with(&start) && problem.contains(named),
            "{alteration}: {problem}"
        );
    }
}

on_both! {
    fn whatever_is_altered_by_sql_is_found_and_named_without_a_server(database) {
        let evidence = Evidence::of(database);
        let position = evidence.position;
        let before = verified(database);
        assert_eq!((&before["checkpoints"], &before["not_sealed_yet"]), (&json!(3), &json!(0)));
        let mut tried = 0;
        let mut expect = |alteration: &str, checkpoint: u64, named: &str| {
            tried += 1;
            evidence.expect(alteration, checkpoint, named);
        };
        for (set, named) in EVENT {
            expect(&format!("UPDATE events SET {set} WHERE position = {position}"), 2, named);
        }
        for (set, named) in CHECKPOINT {
            expect(&format!("UPDATE checkpoints SET {set} WHERE number = 2"), 2, named);
        }
        expect(&format!("DELETE FROM events WHERE position = {position}"), 2, &format!("the event at position {position} was removed"));
        expect("DELETE FROM events WHERE position = 1", 1, "the event at position 1 was removed");
        expect("DELETE FROM events", 1, "the event at position 1 was removed");
        // Two of them change places.
        let next = position + 1;
        let swap = format!(
            "UPDATE events SET position = -1 WHERE position = {position}; \
             UPDATE events SET position = {position} WHERE position = {next}; \
             UPDATE events SET position = {next} WHERE position = -1"
        );
        expect(&swap, 2, "altered or moved");
        // A copy at the end, and where no position is.
        let columns = "kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, salt, commitment";
        for (at, checkpoint, named) in [
            ("(SELECT max(position) + 1 FROM events)", 3, "was added: no checkpoint seals it"),
            ("(SELECT max(position) + 9 FROM events)", 3, "was added: no checkpoint seals it"),
            ("0", 1, "rows at positions before the first"),
            ("-7", 1, "rows at positions before the first"),
        ] {
            let add = format!("INSERT INTO events (position, id, {columns}) SELECT {at}, :other_id, {columns} FROM events WHERE position = {position}");
            let named = if named.starts_with("rows") { "position" } else { named };
            expect(&add, checkpoint, named);
        }
        // One event takes the place of another, as a whole.
        let replace = format!(
            "DELETE FROM events WHERE position = {next}; \
             INSERT INTO events (position, id, {columns}) SELECT {next}, :other_id, {columns} FROM events WHERE position = {position}"
        );
        expect(&replace, 2, "altered or moved");
        // Somebody is hidden behind the pseudonym of an account that was deleted.
        let hide = format!(
            "UPDATE events SET user_id = NULL, family = NULL, chain = NULL, address = NULL, peer = NULL, salt = NULL, \
             pseudonym = (SELECT pseudonym FROM events WHERE kind = 'account_deleted') WHERE position = {position}"
        );
        expect(&hide, 2, "their person was hidden");
        let alone = hide.replace("(SELECT pseudonym FROM events WHERE kind = 'account_deleted')", ":bytes16");
        expect(&alone, 2, "there is no event of that deletion");
        for number in [1, 2] {
            let named = "it was removed: there are later ones";
            expect(&format!("DELETE FROM checkpoints WHERE number = {number}"), number, named);
        }
        expect("DELETE FROM checkpoints WHERE number = 3", 2, "was added: no checkpoint seals it");
        expect("DELETE FROM checkpoints WHERE number = 2; UPDATE checkpoints SET number = 2 WHERE number = 3", 2, "its signature does not fit");
        println!("{tried} alterations, each found and named");
        assert_eq!(verified(database), before, "and what nobody altered holds");
    }

    /// Nothing in the database tells of an end that was cut off. What was saved elsewhere does.
    fn an_end_that_was_cut_off_or_written_anew_is_found_with_saved_checkpoints(database) {
        let evidence = Evidence::of(database);
        let path = database.folder().join("saved.json");
        let file = path.to_str().unwrap();
        let save = || event(database, &["checkpoints", "--output", "json"]).out;
        fs::write(&path, save()).unwrap();
        let held = event(database, &["verify", "--against", file]);
        assert!(held.code == 0 && held.out.contains("the same as saved: 3 checkpoints\n"), "{held:?}");

        let cut = "DELETE FROM events WHERE position >= (SELECT first_position FROM checkpoints WHERE number = 3); \
                   DELETE FROM checkpoints WHERE number = 3";
        evidence.change(cut);
        let unseen = verified(database);
        assert_eq!(unseen["checkpoints"], 2);
        evidence.restore();
        let (checkpoint, problem) = evidence.finding(cut, &["--against", file]);
        assert_eq!((checkpoint, problem.as_str()), (3, "checkpoint 3: it was saved, but is not there any more: the end was removed"));
        let (checkpoint, _) = evidence.finding("DELETE FROM events; DELETE FROM checkpoints", &["--against", file]);
        assert_eq!(checkpoint, 1);

        // The server itself signs another end.
        evidence.change(cut);
        end_leases(database);
        let mut server = database.start();
        server.register();
        wait_until_sealed(database, 3);
        server.kill9();
        verified(database);
        let replaced = event(database, &["verify", "--against", file]);
        assert_eq!((replaced.code, replaced.out.as_str()), (1, "does not hold: checkpoint 3: it is not the one that was saved: it was replaced\n"));

        for (text, told) in [
            ("", "is not what `countersign event checkpoints --output json` writes"),
            ("{}", "is not what `countersign event checkpoints --output json` writes"),
            (r#"[{"checkpoint":1,"hash":"x"}]"#, "the hash of checkpoint 1 is not a hash"),
            (r#"[{"checkpoint":-1,"hash":"x"}]"#, "is not what"),
            (&format!(r#"[{{"checkpoint":0,"hash":"{}"}}]"#, "5a".repeat(32)), "is not what"),
            (
                &format!(
                    r#"[{{"checkpoint":1,"hash":"{}"}},{{"checkpoint":1,"hash":"{}"}}]"#,
                    "5a".repeat(32),
                    "5b".repeat(32)
                ),
                "checkpoint 1 has two different hashes",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let refused = event(database, &["verify", "--against", file]);
            assert!(refused.code == 2 && refused.why().contains(told), "{text}: {refused:?}");
        }
        let refused = event(database, &["verify", "--against", "nowhere.json"]);
        assert!(refused.code == 1 && refused.why().contains("nowhere.json"), "{refused:?}");
        fs::write(&path, "[]").unwrap();
        let nothing = event(database, &["verify", "--against", file]);
        assert_eq!(nothing.code, 0, "nothing was saved");
        assert!(nothing.out.contains("compared with nothing: the file with saved checkpoints is empty"), "{nothing:?}");
    }
}
