//! Databases that other programs use, too: whatever `backup` calls saved can be restored, and what belongs to others is named and left alone.

use std::process::Output;

use countersign_tests::{Database, on_both};

use super::{copying, path, refused, restoring, serve};

/// What other programs put into a database, on PostgreSQL: tables of many types, without a key, of parts, empty; views; columns; triggers that
/// would refuse or change every row; references; extensions.
const ON_POSTGRES: [&str; 14] = [
    "CREATE TABLE heartbeat (id int PRIMARY KEY, note varchar(20)); INSERT INTO heartbeat VALUES (1, 'here')",
    "CREATE TABLE keyless (a jsonb, b numeric(9, 2), c inet); INSERT INTO keyless VALUES ('{}', 1.5, '::1')",
    "CREATE TABLE nothing_in_it (id uuid)",
    "CREATE TABLE parts (at date, n int) PARTITION BY RANGE (at); \
     CREATE TABLE parts_of_now PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2030-01-01'); INSERT INTO parts VALUES ('2026-11-26', 7)",
    "CREATE TABLE \"Odd name; DROP TABLE users\" (\"a b\" int GENERATED ALWAYS AS IDENTITY, t text); \
     INSERT INTO \"Odd name; DROP TABLE users\" (t) VALUES ('x')",
    "CREATE VIEW people_seen AS SELECT count(*) FROM users",
    "CREATE MATERIALIZED VIEW people_counted AS SELECT count(*) FROM users",
    "ALTER TABLE users ADD COLUMN crm text; UPDATE users SET crm = 'known'",
    "ALTER TABLE clients ADD COLUMN tier int NOT NULL DEFAULT 3; UPDATE clients SET tier = 9",
    "ALTER TABLE wallets ADD COLUMN upper text GENERATED ALWAYS AS (upper(address)) STORED",
    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; \
     CREATE TRIGGER refuses BEFORE INSERT OR UPDATE OR DELETE ON consents FOR EACH ROW EXECUTE FUNCTION refuse()",
    "CREATE TABLE user_note (user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE, note text); \
     INSERT INTO user_note SELECT id, 'kind' FROM users",
    "CREATE TABLE wallet_note (family text, address text, FOREIGN KEY (family, address) REFERENCES wallets (family, address)); \
     INSERT INTO wallet_note SELECT family, address FROM wallets",
    "CREATE EXTENSION citext; CREATE EXTENSION pg_stat_statements; CREATE TABLE folded (name citext); INSERT INTO folded VALUES ('A')",
];

/// The same on SQLite.
const ON_SQLITE: [&str; 12] = [
    "CREATE TABLE heartbeat (id INT PRIMARY KEY, note VARCHAR(20)); INSERT INTO heartbeat VALUES (1, 'here')",
    "CREATE TABLE keyless (a, b NUMERIC(9, 2), c REAL); INSERT INTO keyless VALUES ('{}', 1.5, 2.5)",
    "CREATE TABLE nothing_in_it (id TEXT) STRICT",
    "CREATE TABLE without (at TEXT PRIMARY KEY, n INT) WITHOUT ROWID; INSERT INTO without VALUES ('2026-11-26', 7)",
    "CREATE TABLE \"Odd name; DROP TABLE users\" (\"a b\" INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT); \
     INSERT INTO \"Odd name; DROP TABLE users\" (t) VALUES ('x')",
    "CREATE VIRTUAL TABLE search USING fts5 (t); INSERT INTO search VALUES ('words')",
    "CREATE VIEW people_seen AS SELECT count(*) FROM users",
    "ALTER TABLE users ADD COLUMN crm TEXT; UPDATE users SET crm = 'known'",
    "ALTER TABLE clients ADD COLUMN tier INT NOT NULL DEFAULT 3; UPDATE clients SET tier = 9",
    "ALTER TABLE wallets ADD COLUMN upper TEXT GENERATED ALWAYS AS (upper(address)) VIRTUAL",
    "CREATE TRIGGER refuses BEFORE INSERT ON consents BEGIN SELECT RAISE(ABORT, 'no'); END; \
     CREATE TRIGGER refuses_too BEFORE DELETE ON consents BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TABLE user_note (user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE, note TEXT); \
     INSERT INTO user_note SELECT id, 'kind' FROM users",
];

/// What is counted before and after: nothing of it may change.
const KEPT: [&str; 8] = [
    "SELECT count(*) FROM heartbeat WHERE note = 'here'",
    "SELECT count(*) FROM keyless WHERE b = 1.5",
    "SELECT count(*) FROM \"Odd name; DROP TABLE users\" WHERE t = 'x'",
    "SELECT count(*) FROM users WHERE crm = 'known'",
    "SELECT count(*) FROM clients WHERE tier = 9",
    "SELECT count(*) FROM wallets WHERE upper = upper(address)",
    "SELECT count(*) FROM user_note WHERE note = 'kind' AND user_id IN (SELECT id FROM users)",
    "SELECT count(*) FROM nothing_in_it",
];

const NAMED: [&str; 9] = [
    "table heartbeat",
    "table keyless",
    "table nothing_in_it",
    "table Odd name; DROP TABLE users",
    "view people_seen",
    "column users.crm",
    "column clients.tier",
    "trigger refuses on consents",
    "reference of user_note to users",
];

fn share(database: &Database) -> usize {
    let kinds: &[&str] = if database.is_postgres() { &ON_POSTGRES } else { &ON_SQLITE };
    for kind in kinds {
        database.change(kind);
    }
    kinds.len()
}

fn kept(database: &Database) -> Vec<i64> {
    KEPT.iter().map(|sql| database.number(sql)).collect()
}

#[track_caller]
fn done(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn used(database: &Database) -> String {
    let mut server = database.start();
    for _ in 0..3 {
        server.tokens(&server.register());
    }
    assert!(server.terminate().success());
    server.public_url.clone()
}

on_both! {
    /// Ten kinds and more at once: saved, restored into an empty database, over itself, over another one that is shared alike, and copied.
    fn s_14_what_belongs_to_others_is_named_and_left_alone(database) {
        let url = used(database);
        println!("{} kinds", share(database));
        let before = kept(database);
        assert_eq!(before[3], 3, "{before:?}");
        let file = database.folder().join("shared.backup");
        let said = done(database.operator(&["backup", path(&file)]).output().unwrap());
        for name in NAMED {
            assert!(said.contains(name), "{name}: {said}");
        }
        let shown = database.operator(&["doctor"]).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        for name in NAMED {
            assert!(shown.contains(name), "{name}: {shown}");
        }

        let empty = database.sibling();
        done(restoring(database, &empty, &["restore", path(&file)]).output().unwrap());
        assert_eq!(empty.number("SELECT count(*) FROM users"), 3);
        drop(serve(database, &empty, &url));

        let said = done(restoring(database, database, &["restore", path(&file), "--force"]).output().unwrap());
        assert!(said.contains("left alone") && said.contains("table heartbeat"), "{said}");
        assert_eq!(kept(database), before, "over itself");

        let other = database.sibling();
        used(&other);
        share(&other);
        if other.is_postgres() {
            // Without an action, this reference holds rows that are not in the backup.
            let held = restoring(database, &other, &["restore", path(&file), "--force"]).output().unwrap();
            let said = String::from_utf8_lossy(&held.stderr).into_owned();
            assert!(!held.status.success() && said.contains("wallet_note"), "{said}");
            assert_eq!(other.number("SELECT count(*) FROM wallet_note"), 3, "nothing was changed");
            other.change("DELETE FROM wallet_note");
        }
        done(restoring(database, &other, &["restore", path(&file), "--force"]).output().unwrap());
        assert_eq!(other.number("SELECT count(*) FROM heartbeat"), 1);
        assert_eq!(other.number("SELECT count(*) FROM users"), 3);

        let copy = database.sibling();
        done(copying(database, &copy, &[]).output().unwrap());
        assert_eq!(copy.number("SELECT count(*) FROM users"), 3);
        done(copying(database, &other, &["--force"]).output().unwrap());
        assert_eq!(other.number("SELECT count(*) FROM heartbeat"), 1);
        assert_eq!(kept(database), before, "the source of a copy");
    }

    /// A column that no row of ours has a value for would make every row fail.
    fn s_14_a_column_that_needs_a_value_is_refused_before_anything_is_touched(database) {
        used(database);
        let file = database.folder().join("one.backup");
        database.operate(&["backup", path(&file)]);
        database.change(if database.is_postgres() {
            "ALTER TABLE epochs ADD COLUMN shift int NOT NULL"
        } else {
            "DROP TABLE epochs; CREATE TABLE epochs (number INTEGER NOT NULL PRIMARY KEY, id BLOB NOT NULL UNIQUE, \
             raised_at BIGINT NOT NULL, shift INT NOT NULL)"
        });
        let before = database.dump();
        refused(&mut restoring(database, database, &["restore", path(&file), "--force"]), "column epochs.shift");
        assert_eq!(database.dump(), before);
    }
}
