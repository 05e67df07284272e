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
        ("ops/clients/find_client.rs", "in PostgreSQL it is batched: together/read.rs"),
        (
            "ops/sign_in/consents.rs",
            "a statement that several operations run; in PostgreSQL it is a part of their one statement",
        ),
        ("ops/sign_in/sessions.rs", "the same"),
        ("ops/sign_in/standing.rs", "in PostgreSQL it is batched: together/standing.rs"),
        ("ops/tokens/place.rs", "where the row of a live access token is, to look there first"),
        ("ops/tokens/read.rs", "in PostgreSQL it is batched: together/read.rs"),
        ("ops/tokens/store_token.rs", "a statement that several operations run"),
        ("plans.rs", "tests of how SQLite carries out what both share; PostgreSQL's are in tests.rs"),
        ("checkpointer.rs", "SQLite's log is copied by a thread of ours"),
        ("executor.rs", "one writer carries out everything"),
        ("file.rs", "the database is a file"),
        ("pool.rs", "connections to a file; those to a server are in connect"),
    ],
    functions: &[
        ("complete_login::insert_grant", "continuing a session stores a grant by the same statement"),
        ("revoke::revoke_access", "a part of PostgreSQL's statement that rotates"),
        ("time_witness::mark_time", "a file has no clock; a server has one"),
        ("wallets::make_user", "a part of PostgreSQL's statements"),
        ("wallets::owner_of", "the same"),
    ],
};

const POSTGRES: Own = Own {
    adapter: "adapters-postgres",
    files: &[
        ("batch.rs", "commands of one kind share a statement; SQLite's writer shares commits"),
        ("batched.rs", "what these commands are"),
        ("together.rs", "the statements of those batches"),
        ("connect.rs", "a server has a URL, and may be away; a pooler may stand before it"),
        ("tests.rs", "tests of what only several connections at once can show"),
    ],
    functions: &[("wallets::until_the_wallet_is_known", "there are several writers")],
};

/// What both share.
const SHARED: Own = Own { adapter: "sql", files: &[], functions: &[] };

#[test]
fn sister_adapters_have_the_same_files() {
    let shared = |own: &Own| {
        let mut files: BTreeSet<String> =
            files(own, "").chain(below(own, "ops")).chain(files(own, "setup")).collect();
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
        for file in below(own, "ops").filter(|file| own.files.iter().all(|(alone, _)| alone != file)) {
            let module = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
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
    for own in [&SQLITE, &POSTGRES, &SHARED] {
        for file in below(own, "ops").chain(files(own, "together")) {
            let text = text(own, &file);
            let (_, statements) = text.split_once("\nstatement! {").unwrap_or_default();
            let late = statements.lines().find(|line| {
                ["fn ", "pub fn ", "pub(crate) fn "].iter().any(|start| line.starts_with(start))
            });
            assert_eq!(late, None, "{}: {file}", own.adapter);
        }
    }
}

/// Clients are inserted by diesel in SQLite, and where PostgreSQL has one of them.
#[test]
fn the_columns_of_wide_rows_are_spelled_where_the_row_is_declared() {
    for own in [&SQLITE, &POSTGRES] {
        for file in below(own, "ops").chain(files(own, "together")) {
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
    for own in [&SQLITE, &POSTGRES, &SHARED] {
        for file in below(own, "ops").chain(files(own, "together")) {
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

/// The same in all folders of a folder, too.
fn below(own: &Own, folder: &str) -> impl Iterator<Item = String> {
    let mut folders: Vec<String> = match fs::read_dir(source(own).join(folder)) {
        Ok(entries) => entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect(),
        Err(_) => Vec::new(),
    };
    folders.sort();
    let rooms: Vec<String> =
        folders.iter().flat_map(|room| files(own, &format!("{folder}/{room}")).collect::<Vec<_>>()).collect();
    files(own, folder).chain(rooms)
}

fn text(own: &Own, file: &str) -> String {
    fs::read_to_string(source(own).join(file)).expect("a file that was listed")
}

/// The functions that the crate can see, in their order.
fn functions(text: &str) -> Vec<String> {
    let starts = text.lines().filter_map(|line| line.strip_prefix("pub(crate) fn "));
    starts.map(|start| start.split(['(', '<']).next().unwrap_or_default().to_owned()).collect()
}
