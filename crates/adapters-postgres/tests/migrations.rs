//! Migrations: there and back, and by several at once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;

use countersign_adapters_postgres::{PgOptions, PgStorage, migrate, revert_all};
use countersign_test_postgres::Cluster;

/// Everything that the schema says, but for the migrations' own table.
fn schema(url: &str) -> String {
    let columns = "SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default \
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_diesel%' \
        ORDER BY 1, 2";
    let indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' \
        AND tablename NOT LIKE '\\_\\_diesel%' ORDER BY 1";
    let constraints = "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint \
        WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE '\\_\\_diesel%' \
        ORDER BY 1, 2";
    [columns, indexes, constraints].map(|query| execute(url, query)).join("\n--\n")
}

fn execute(url: &str, statements: &str) -> String {
    let database = url.rsplit('/').next().unwrap();
    Cluster::shared().execute(database, statements)
}

#[test]
fn up_and_down_and_up_again_gives_the_same_schema() {
    let url = Cluster::shared().create_database();
    let ran = migrate(&url).unwrap();
    assert_eq!(ran.first().map(String::as_str), Some("2026-11-21-000001_initial"));
    let first = schema(&url);
    assert!(first.contains("grants_by_forget_after"), "{first}");

    assert_eq!(revert_all(&url).unwrap().len(), ran.len());
    assert_eq!(schema(&url), "\n--\n\n--\n");

    assert_eq!(migrate(&url).unwrap(), ran);
    assert_eq!(schema(&url), first);
    assert_eq!(migrate(&url).unwrap(), Vec::<String>::new());
}

#[test]
fn d_16_five_replicas_start_at_once_on_an_empty_database() {
    for _ in 0..5 {
        let url = Cluster::shared().create_database();
        let ran: Vec<_> = thread::scope(|scope| {
            let replicas: Vec<_> = (0..5).map(|_| scope.spawn(|| migrate(&url).unwrap())).collect();
            replicas.into_iter().map(|replica| replica.join().unwrap()).collect()
        });
        assert_eq!(ran.iter().filter(|names| !names.is_empty()).count(), 1, "one of them migrates: {ran:?}");
        assert!(schema(&url).contains("tokens"));
    }
}

#[test]
fn d_30_a_schema_that_is_newer_than_the_program_still_serves_it() {
    let url = Cluster::shared().create_database();
    migrate(&url).unwrap();
    execute(&url, "INSERT INTO __diesel_schema_migrations (version) VALUES ('99991231000001')");
    assert_eq!(migrate(&url).unwrap(), Vec::<String>::new());
    PgStorage::connect(&url, PgOptions::default()).unwrap();
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let refused =
        PgStorage::connect("postgres://app:hunter2@127.0.0.1:1/app", PgOptions::default()).unwrap_err();
    let told = format!("{refused} {refused:?}");
    assert!(told.contains("127.0.0.1") && !told.contains("hunter2"), "{told}");
}
