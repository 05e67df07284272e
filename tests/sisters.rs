//! The two storage adapters are sisters: if you know one, you find the same operation in the same place in the other.
//! Whatever is different on purpose is named here, with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files and functions of one adapter that the other does not have.
struct Own {
    adapter: &'static str,
    files: &'static [(&'static str, &'static str)],
    functions: &'static [(&'static str, &'static str)],
}

const SQLITE: Own = Own {
    adapter: "adapters-sqlite",
    files: &[
        (
            "ops/consents.rs",
            "a statement that several operations run; in PostgreSQL it is a part of their one statement",
        ),
        ("ops/sessions.rs", "the same"),
        ("ops/tokens.rs", "the same"),
        ("checkpointer.rs", "SQLite's log is copied by a thread of ours"),
        ("executor.rs", "one writer carries out everything"),
        ("file.rs", "the database is a file"),
    ],
    functions: &[
        ("complete_login::insert_grant", "continuing a session stores a grant by the same statement"),
        ("read::find_client", "in PostgreSQL it is batched: together/read.rs"),
        ("read::find_grant", "the same"),
        ("read::find_refresh", "the same"),
        ("read::find_access", "the same"),
        ("read::lives_on", "the same"),
        ("read_blocks::anything_blocked", "in PostgreSQL it is batched: together/standing.rs"),
        ("read_groups::standing_of", "the same"),
        ("read_groups::groups_of", "the same"),
        ("revoke::revoke_access", "a part of PostgreSQL's statement that rotates"),
        ("time_witness::mark_time", "a file has no clock; a server has one"),
        ("wallets::insert", "a part of PostgreSQL's statements"),
        ("wallets::is_spent", "the same"),
        ("wallets::make_user", "the same"),
        ("wallets::owner_since", "in PostgreSQL a part of taking the lock"),
    ],
};

const POSTGRES: Own = Own {
    adapter: "adapters-postgres",
    files: &[
        ("ops/transaction.rs", "in SQLite the writer makes the transaction"),
        ("batch.rs", "commands of one kind share a statement; SQLite's writer shares commits"),
        ("together.rs", "the statements of those batches"),
        ("connection.rs", "a server has a URL, and may be away"),
        ("pooling.rs", "a pooler may stand before the server"),
        ("tests.rs", "tests of what only several connections at once can show"),
    ],
    functions: &[
        ("wallets::lock_user", "there are several writers"),
        ("wallets::lock_user_of", "the same"),
        ("wallets::under_lock_of_owner", "the same"),
        ("wallets::until_the_wallet_is_known", "the same"),
    ],
};

#[test]
fn sister_adapters_have_the_same_files() {
    let shared = |own: &Own| {
        let mut files: BTreeSet<String> =
            files(own, "").chain(files(own, "ops")).chain(files(own, "rows")).collect();
        for (file, _) in own.files {
            assert!(files.remove(*file), "{}: {file} is gone; take it off the list", own.adapter);
        }
        files
    };
    assert_eq!(shared(&SQLITE), shared(&POSTGRES), "left: SQLite, right: PostgreSQL");
}

#[test]
fn sister_adapters_have_the_same_operations_in_the_same_order() {
    let shared = |own: &Own| {
        let mut operations = BTreeMap::new();
        let mut left: BTreeSet<&str> = own.functions.iter().map(|(function, _)| *function).collect();
        for file in files(own, "ops").filter(|file| own.files.iter().all(|(alone, _)| alone != file)) {
            let module = file.trim_start_matches("ops/").trim_end_matches(".rs").to_owned();
            let functions: Vec<String> = functions(&text(own, &file))
                .into_iter()
                .filter(|function| !left.remove(&*format!("{module}::{function}")))
                .collect();
            operations.insert(module, functions);
        }
        assert!(left.is_empty(), "{}: {left:?} are gone; take them off the list", own.adapter);
        operations
    };
    assert_eq!(shared(&SQLITE), shared(&POSTGRES), "left: SQLite, right: PostgreSQL");
}

#[test]
fn statements_come_after_the_functions_that_use_them() {
    for own in [&SQLITE, &POSTGRES] {
        for file in files(own, "ops").chain(files(own, "together")) {
            let text = text(own, &file);
            let (_, statements) = text.split_once("\nstatement! {").unwrap_or_default();
            let late =
                statements.lines().find(|line| line.starts_with("fn ") || line.starts_with("pub(crate) fn "));
            assert_eq!(late, None, "{}: {file}", own.adapter);
        }
    }
}

/// Clients are inserted by diesel in SQLite, and where PostgreSQL has one of them.
#[test]
fn the_columns_of_wide_rows_are_spelled_where_the_row_is_declared() {
    for own in [&SQLITE, &POSTGRES] {
        for file in files(own, "ops").chain(files(own, "together")) {
            let text = text(own, &file);
            for table in ["tokens", "grants", "clients"] {
                let insert = format!("INSERT INTO {table} (");
                for columns in text.split(&insert).skip(1) {
                    assert!(
                        columns.starts_with(':'),
                        "{}: {file} spells the columns of {table}",
                        own.adapter
                    );
                }
            }
        }
    }
}

#[test]
fn values_are_bound_by_name() {
    for own in [&SQLITE, &POSTGRES] {
        for file in files(own, "ops").chain(files(own, "together")) {
            for statement in text(own, &file).split("\nstatement! {").skip(1) {
                let statement = statement.split("\n}\n").next().unwrap_or_default();
                let by_place = statement.lines().filter(|line| !line.trim_start().starts_with("///"));
                let by_place = by_place.filter(|line| line.contains(['?', '$'])).collect::<Vec<_>>();
                assert!(by_place.is_empty(), "{}: {file}: {by_place:?}", own.adapter);
            }
        }
    }
}

fn source(own: &Own) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(own.adapter).join("src")
}

/// The names of the Rust files in a folder of an adapter, with the folder.
fn files(own: &Own, folder: &str) -> impl Iterator<Item = String> {
    let mut names: Vec<String> = match fs::read_dir(source(own).join(folder)) {
        Ok(entries) => entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect(),
        Err(_) => Vec::new(),
    };
    names.retain(|name| name.ends_with(".rs"));
    names.sort();
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    names.into_iter().map(move |name| format!("{folder}{name}"))
}

fn text(own: &Own, file: &str) -> String {
    fs::read_to_string(source(own).join(file)).expect("a file that was listed")
}

/// The functions that the crate can see, in their order.
fn functions(text: &str) -> Vec<String> {
    let starts = text.lines().filter_map(|line| line.strip_prefix("pub(crate) fn "));
    starts.map(|start| start.split(['(', '<']).next().unwrap_or_default().to_owned()).collect()
}
