//! Migrations: up, down, and by several processes at once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;

use countersign_adapters_postgres::{
    Found, MigrateError, PgArchive, PgOptions, PgStorage, examine, look, migrate, revert_all,
};
use countersign_conformance::fixtures;
use countersign_domain::event::{Actor, Details, Event, EventKind};
use countersign_domain::id::{EventId, UserId};
use countersign_ports::{
    ClientStore, CompleteLogin, EpochStore, EventStore, LoginStore, UnlinkWallet, Upkeep, WalletStore,
    WalletUnlinked,
};
use countersign_test_postgres::Cluster;
use uuid::Uuid;

/// The whole schema, except the migrations' own table.
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
    assert_eq!(ran.first().map(String::as_str), Some("2026-11-22-000001_clients"));
    let first = schema(&url);
    assert!(first.contains("grants_by_review_at"), "{first}");

    assert_eq!(revert_all(&url).unwrap().len(), ran.len());
    assert_eq!(schema(&url), "\n--\n\n--\n");

    assert_eq!(migrate(&url).unwrap(), ran);
    assert_eq!(schema(&url), first);
    assert_eq!(migrate(&url).unwrap(), Vec::<String>::new());
}

#[test]
fn looking_into_a_database_creates_nothing() {
    let url = Cluster::shared().create_database();
    assert_eq!(look(&url).unwrap(), Found::Nothing);
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(execute(&url, tables).trim(), "0");
    migrate(&url).unwrap();
    assert_eq!(look(&url).unwrap(), Found::Ours);
    revert_all(&url).unwrap();
    assert_eq!(look(&url).unwrap(), Found::Nothing);
}

/// Otherwise each exchange and each refresh would write an entry into every index of the table.
#[test]
fn what_an_exchange_and_a_refresh_change_in_a_grant_is_in_no_index() {
    let url = Cluster::shared().create_database();
    migrate(&url).unwrap();
    let indexes = execute(&url, "SELECT indexdef FROM pg_indexes WHERE tablename = 'grants'");
    assert_eq!(indexes.lines().count(), 6, "{indexes}");
    for column in ["forget_after", "newest_token", "redeemed_at"] {
        assert!(!indexes.contains(column), "{indexes}");
    }
}

/// The URL of the same database for another role.
fn as_role(url: &str, role: &str) -> String {
    let (_, server) = url.split_once('@').unwrap();
    format!("postgres://{role}@{server}")
}

#[tokio::test]
async fn a_role_that_may_only_read_and_write_rows_serves_what_another_migrated() {
    let url = Cluster::shared().create_database();
    let role = format!("app_{}", url.rsplit('/').next().unwrap());
    execute(&url, &format!("CREATE ROLE {role} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
    let app = as_role(&url, &role);
    let refused = PgStorage::connect(&app, PgOptions::default()).unwrap_err();
    assert!(matches!(refused, MigrateError::NotPermitted(_)), "{refused:?}");
    assert!(refused.to_string().contains("countersign migrate"), "{refused}");

    migrate(&url).unwrap();
    execute(
        &url,
        &format!(
            "GRANT USAGE ON SCHEMA public TO {role}; \
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
        ),
    );
    assert_eq!(look(&app).unwrap(), Found::Ours);
    let store = PgStorage::connect(&app, PgOptions::default()).unwrap();
    assert!(store.migrated().is_empty());
    store.ping().await.unwrap();
    store.register_client(fixtures::register_client()).await.unwrap();
    store.complete_login(fixtures::complete_login()).await.unwrap();
    store.raise_epoch(fixtures::raise_epoch()).await.unwrap();
}

#[test]
fn d_16_five_replicas_start_at_once_on_an_empty_database() {
    for _ in 0..5 {
        let url = Cluster::shared().create_database();
        let mut ran: Vec<String> = thread::scope(|scope| {
            let replicas: Vec<_> = (0..5).map(|_| scope.spawn(|| migrate(&url).unwrap())).collect();
            replicas.into_iter().flat_map(|replica| replica.join().unwrap()).collect()
        });
        ran.sort();
        let each_once = migrate(&Cluster::shared().create_database()).unwrap();
        assert_eq!(ran, each_once, "each migration ran once, whoever ran it");
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

/// Exactly what the first release writes for a new wallet and its login, and one more wallet.
const OLD_LOGIN: &str = "\
    WITH known AS ( \
      SELECT user_id FROM wallets WHERE family = 'eip155' AND address = '0xa' \
    ), granted AS ( \
      INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, \
        code_challenge, code_hash, authenticated_at, code_expires_at, forget_after) \
      VALUES (uuid_nil, uuid_nil, COALESCE((SELECT user_id FROM known), uuid_nil), 'eip155', 'eip155:137', '0xa', \
        'https://client.example', 'profile', NULL, NULL, decode(repeat('00', 32), 'hex'), now(), now(), now()) \
      ON CONFLICT (id) DO NOTHING \
      RETURNING user_id \
    ), linked AS ( \
      INSERT INTO wallets (family, address, user_id, linked_at) \
      SELECT 'eip155', '0xa', user_id, now() FROM granted WHERE NOT EXISTS (SELECT FROM known) \
      RETURNING user_id \
    ), born AS ( \
      INSERT INTO users (id, created_at) SELECT user_id, now() FROM linked \
    ) \
    SELECT user_id FROM granted; \
    INSERT INTO wallets (family, address, user_id, linked_at) VALUES ('solana:5eykt', 'b', uuid_nil, now())";

#[tokio::test]
async fn d_16_d_30_what_the_release_before_writes_is_read_with_the_chain_of_its_family() {
    let url = Cluster::shared().create_database();
    let storage = PgStorage::connect(&url, PgOptions::default()).unwrap();
    execute(&url, &OLD_LOGIN.replace("uuid_nil", "'00000000-0000-0000-0000-000000000000'::uuid"));
    let wallets = storage.wallets_of(UserId::from_uuid(Uuid::nil())).await.unwrap();
    let accounts: Vec<_> = wallets.iter().map(|wallet| wallet.account.caip10()).collect();
    assert_eq!(accounts, ["eip155:1:0xa", "solana:5eykt:b"]);
    assert!(wallets.iter().all(|wallet| wallet.name.is_none()));
    let name = fixtures::name_wallet(UserId::from_uuid(Uuid::nil()), &wallets[0].account, "Savings");
    assert!(storage.name_wallet(name).await.unwrap());

    let begun_at = wallets[1].linked_at + time::Duration::SECOND;
    let command =
        UnlinkWallet { begun_at, ..fixtures::unlink_wallet(&wallets[1].account, &wallets[0].account) };
    assert!(matches!(storage.unlink_wallet(command).await.unwrap(), WalletUnlinked::Unlinked { .. }));
    assert_eq!(execute(&url, "SELECT revocation_reason FROM grants"), "wallet_unlinked");
}

#[tokio::test]
async fn d_16_events_go_with_their_tables_and_new_ones_are_stored_in_new_tables() {
    let url = Cluster::shared().create_database();
    let up = include_str!("../../../migrations/postgres/2026-11-30-000001_events/up.sql");
    let down = include_str!("../../../migrations/postgres/2026-11-30-000001_events/down.sql");
    let sign_in = || Event {
        id: EventId::from_uuid(fixtures::grant_id().as_uuid()),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: None,
        wallet: None,
        client: None,
        address: None,
        request: None,
        details: Details::default(),
        signed: None,
    };
    let sealed = "INSERT INTO events SELECT 1, gen_random_uuid(), 'sign_in', 'person', NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL, NULL, '{}', NULL, sha256(''); \
        INSERT INTO checkpoints VALUES (1, now(), 1, 1, sha256(''), sha256(''), 1, '')";
    migrate(&url).unwrap();
    for _ in 0..2 {
        let storage = PgStorage::connect(&url, PgOptions::default()).unwrap();
        assert_eq!(storage.last_checkpoint().await.unwrap(), None);
        let login = CompleteLogin { event: Some(Box::new(sign_in())), ..fixtures::complete_login() };
        storage.complete_login(login).await.unwrap();
        assert!(storage.record_event(sign_in()).await.unwrap());
        assert_eq!(storage.fresh_events(10).await.unwrap().len(), 2);
        for statements in [sealed, down, up] {
            execute(&url, statements);
        }
    }
    assert_eq!(execute(&url, "SELECT count(*) FROM grants").trim(), "2");
}

/// Records that migrations ran, as builds before the first release did: those that ours replace.
fn record(url: &str, versions: &[&str]) {
    let values: Vec<_> = versions.iter().map(|version| format!("('{version}')")).collect();
    let values = values.join(", ");
    execute(
        url,
        &format!(
            "CREATE TABLE IF NOT EXISTS __diesel_schema_migrations \
            (version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP); \
            INSERT INTO __diesel_schema_migrations (version) VALUES {values} ON CONFLICT DO NOTHING"
        ),
    );
}

#[test]
fn a_database_of_the_last_build_before_the_first_release_is_used_as_it_is() {
    let url = Cluster::shared().create_database();
    migrate(&url).unwrap();
    record(&url, &["20261121000001", "20261122000002", "20261203000006"]);
    let role = format!("app_{}", url.rsplit('/').next().unwrap());
    execute(
        &url,
        &format!(
            "CREATE ROLE {role} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {role}; \
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
        ),
    );
    assert_eq!(migrate(&url).unwrap(), Vec::<String>::new());
    let examined = examine(&url).unwrap();
    assert_eq!((examined.missing, examined.newer, examined.absent), (Vec::new(), Vec::new(), Vec::new()));
    assert_eq!(look(&url).unwrap(), Found::Ours);
    PgStorage::connect(&as_role(&url, &role), PgOptions::default()).unwrap();
}

#[test]
fn a_database_of_an_earlier_build_is_refused_and_left_as_it_was() {
    let url = Cluster::shared().create_database();
    execute(&url, "CREATE TABLE clients (id UUID NOT NULL PRIMARY KEY)");
    record(&url, &["20261121000001", "20261122000001", "20261123000001"]);
    let before = schema(&url);
    for refused in [migrate(&url).unwrap_err(), PgStorage::connect(&url, PgOptions::default()).unwrap_err()] {
        assert!(matches!(refused, MigrateError::TooOld(_)), "{refused:?}");
        assert!(refused.to_string().contains("before the first release"), "{refused}");
    }
    assert_eq!(schema(&url), before);
    assert_eq!(execute(&url, "SELECT count(*) FROM __diesel_schema_migrations").trim(), "3");
    assert!(
        PgArchive::open(&url).is_err_and(|refused| refused.to_string().contains("before the first release"))
    );
}

#[test]
fn whoever_ends_what_a_user_granted_finds_it_by_the_index() {
    let url = Cluster::shared().create_database();
    migrate(&url).unwrap();
    let user = "user_id = '00000000-0000-0000-0000-000000000000' AND revoked_at IS NULL";
    let statements = [
        format!(
            "UPDATE grants SET revoked_at = now(), revocation_reason = '' WHERE {user} AND family = '' AND address = ''"
        ),
        format!(
            "UPDATE grants SET revoked_at = now(), revocation_reason = '' WHERE {user} AND client_id = gen_random_uuid()"
        ),
        format!("DELETE FROM grants WHERE {user}"),
    ];
    for statement in statements {
        let plan = execute(&url, &format!("SET enable_seqscan = off; EXPLAIN {statement}"));
        assert!(plan.contains("grants_by_user"), "{plan}");
    }
}

#[test]
fn that_a_token_lives_on_is_seen_in_the_indexes_of_what_ended() {
    let url = Cluster::shared().create_database();
    migrate(&url).unwrap();
    for (table, index, ended) in
        [("tokens", "tokens_ended", "access_revoked_at"), ("grants", "grants_ended", "revoked_at")]
    {
        let statement = format!(
            "SELECT TRUE FROM {table} WHERE id = '00000000-0000-0000-0000-000000000000' AND {ended} IS NOT NULL"
        );
        let plan = execute(&url, &format!("SET enable_seqscan = off; EXPLAIN {statement}"));
        assert!(plan.contains(&format!("Index Only Scan using {index}")), "{plan}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let refused =
        PgStorage::connect("postgres://app:hunter2@127.0.0.1:1/app", PgOptions::default()).unwrap_err();
    let told = format!("{refused} {refused:?}");
    assert!(told.contains("127.0.0.1") && !told.contains("hunter2"), "{told}");
}
