//! Batches on real tables: what they leave alone, and what happens to one that fails.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use countersign_conformance::fixtures;
use countersign_domain::id::TokenId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccountStore, ClientStore, CompleteLogin, EndSession, KnownAccess, LoginCompleted, LoginStore,
    RedeemCode, Redeemed, ReplayStore, RequestStore, RevokeGrant, RevokeToken, Revoked, RotateRefresh,
    Rotated, SessionStore, SpendProof, StoreError, TokenStore, Upkeep,
};
use diesel::prelude::*;
use diesel::result::DatabaseErrorKind::UniqueViolation;
use diesel::result::Error::DatabaseError;
use diesel::sql_query;
use tokio::task::JoinSet;

use super::{count, migrated, migrated_url};
use crate::batched::Batched;
use crate::connect::connection::ConnectionUrl;
use crate::error::OpResult;
use crate::options::PgOptions;
use crate::store::PgStorage;
use crate::together::read::{FindAccess, FindClient, FindGrant, FindRefresh, LivesOn};
use crate::together::standing::{AnythingBlocked, FindGroups, FindStanding};

type Outcomes<C> = Vec<Option<<C as Batched>::Outcome>>;

fn together<C: Batched>(connection: &mut PgConnection, batch: &[C]) -> Outcomes<C> {
    C::together(connection, batch).unwrap()
}

/// Each kind for two commands at once, twice: the first time everything is stored, the second time nothing.
pub(super) fn every_operation_together(connection: &mut PgConnection, with_options: bool) {
    let clients = [fixtures::register_client(), fixtures::register_client()];
    let mut logins = [fixtures::remembered_login(), fixtures::remembered_login()];
    for login in &mut logins {
        login.session = login.session.take().filter(|_| with_options);
        login.nonce = login.nonce.take().filter(|_| with_options);
    }
    let accounts = logins.each_ref().map(|login| login.account.clone());
    let redeems = logins.each_ref().map(|login| fixtures::redeem_code(login.id));
    let rotates = redeems.each_ref().map(|redeem| fixtures::rotate_refresh(&redeem.token));
    let tokens = rotates.each_ref().map(|rotate| fixtures::revoke_token(&rotate.token));
    let grants = logins.each_ref().map(|login| fixtures::revoke_grant(login.id));
    let proofs = [fixtures::spend_proof(), fixtures::spend_proof()];
    for stored in [true, false] {
        let all = |outcomes: Vec<bool>| assert_eq!(outcomes, [stored; 2]);
        all(together(connection, &clients).iter().map(Option::is_some).collect());
        all(together(connection, &logins).iter().map(Option::is_some).collect());
        all(together(connection, &redeems).iter().map(Option::is_some).collect());
        all(together(connection, &rotates).iter().map(Option::is_some).collect());
        all(together(connection, &tokens).iter().map(Option::is_some).collect());
        all(together(connection, &grants).iter().map(Option::is_some).collect());
        all(together(connection, &proofs).iter().map(Option::is_some).collect());
    }
    let found = |found: usize| assert_eq!(found, 2);
    found(
        together(connection, &clients.map(|command| FindClient(command.client.id)))
            .iter()
            .flatten()
            .flatten()
            .count(),
    );
    found(together(connection, &logins.map(|login| FindGrant(login.id))).iter().flatten().flatten().count());
    let [first, second] = rotates.map(|rotate| rotate.token.id);
    found(
        together(connection, &[FindRefresh(first), FindRefresh(second)]).iter().flatten().flatten().count(),
    );
    found(together(connection, &[FindAccess(first), FindAccess(first)]).iter().flatten().flatten().count());
    let access = FindAccess(first).alone(connection).unwrap().unwrap();
    let known = KnownAccess::from(&access);
    assert_eq!(together(connection, &[LivesOn(known), LivesOn(known)]), [Some(false); 2]);
    let wallets = logins_of(&accounts);
    let users = together(connection, &wallets).into_iter().flatten().filter_map(|standing| standing.user);
    let users: Vec<FindGroups> = users.map(FindGroups).collect();
    assert_eq!(together(connection, &users), vec![Some(Vec::new()); 2]);
    assert_eq!(together(connection, &[AnythingBlocked, AnythingBlocked]), [Some(false); 2]);
}

fn logins_of(accounts: &[WalletAccount]) -> Vec<FindStanding> {
    accounts.iter().cloned().map(FindStanding).collect()
}

/// Signs in and returns the command that redeems the code.
fn signed_in(connection: &mut PgConnection) -> RedeemCode {
    let login = fixtures::complete_login();
    login.alone(connection).unwrap();
    fixtures::redeem_code(login.id)
}

fn redeemed(connection: &mut PgConnection) -> RedeemCode {
    let command = signed_in(connection);
    assert_eq!(command.alone(connection).unwrap(), Redeemed::Stored);
    command
}

/// Carries out a batch while somebody else has locked these rows, and returns the outcomes.
fn while_held<C: Batched>(
    url: &crate::connect::connection::ConnectionUrl,
    rows: &str,
    batch: &[C],
) -> OpResult<Outcomes<C>> {
    let [mut holder, mut connection] = [(); 2].map(|()| url.open_for_operations().unwrap());
    sql_query("BEGIN").execute(&mut holder).unwrap();
    let held = sql_query(format!("SELECT FROM {rows} FOR UPDATE")).execute(&mut holder).unwrap();
    assert_eq!(held, 1);
    let start = Instant::now();
    let outcomes = C::together(&mut connection, batch);
    assert!(start.elapsed() < Duration::from_secs(3), "the lock was waited for");
    outcomes
}

#[test]
fn a_batch_waits_for_no_grant_and_no_token_that_somebody_holds() {
    let (url, mut connection) = migrated();
    let codes = [signed_in(&mut connection), signed_in(&mut connection)];
    let held = format!("grants WHERE id = '{}'", codes[0].token.grant);
    let outcomes = while_held(&url, &held, &codes).unwrap();
    assert_eq!(outcomes, [None, Some(Redeemed::Stored)]);

    let families = [redeemed(&mut connection), redeemed(&mut connection)];
    let rotations: [RotateRefresh; 2] = families.each_ref().map(|code| fixtures::rotate_refresh(&code.token));
    let held = format!("grants WHERE id = '{}'", families[0].token.grant);
    assert_eq!(while_held(&url, &held, &rotations).unwrap(), [None, Some(Rotated::Stored)]);
    let deaths: [RevokeGrant; 2] = families.each_ref().map(|code| fixtures::revoke_grant(code.token.grant));
    assert_eq!(while_held(&url, &held, &deaths).unwrap(), [None, Some(Revoked::Revoked)]);
    let deaths: [RevokeToken; 2] = families.each_ref().map(|code| fixtures::revoke_token(&code.token));
    let held = format!("tokens WHERE id = '{}'", families[0].token.id);
    assert_eq!(while_held(&url, &held, &deaths).unwrap(), [None, Some(Revoked::Revoked)]);
}

#[test]
fn a_batch_of_logins_waits_for_no_wallet_consent_and_session_that_somebody_holds() {
    let (url, mut connection) = migrated();
    let first = fixtures::remembered_login();
    first.alone(&mut connection).unwrap();
    let session = first.session.as_ref().unwrap().id;
    let user = first.new_user;
    let rows = [
        format!("wallets WHERE address = '{}'", first.account.address),
        format!("signed_consents WHERE user_id = '{user}'"),
        format!("login_sessions WHERE id = '{session}'"),
    ];
    for held in rows {
        let mut again = fixtures::remembered_login_of(first.account.clone());
        again.client = first.client;
        again.session.as_mut().unwrap().replaces = Some(session);
        let stranger = fixtures::remembered_login();
        let issued = LoginCompleted::CodeIssued { user: stranger.new_user };
        let outcomes = while_held(&url, &held, &[again, stranger]).unwrap();
        assert_eq!(outcomes, [None, Some(issued)], "{held}");
    }
    let again = fixtures::remembered_login_of(first.account.clone());
    let issued = LoginCompleted::CodeIssued { user };
    assert_eq!(together(&mut connection, &[again]), [Some(issued)]);
}

#[test]
fn a_batch_of_logins_writes_everything_that_a_login_writes() {
    let (_, mut connection) = migrated();
    let first = [fixtures::remembered_login(), fixtures::remembered_login(), fixtures::complete_login()];
    together(&mut connection, &first);
    let rows = |connection: &mut PgConnection| {
        ["users", "wallets", "grants", "signed_consents", "login_sessions"]
            .map(|table| count(connection, table))
    };
    assert_eq!(rows(&mut connection), [3, 3, 3, 3, 2]);
    let again = first.each_ref().map(|login| CompleteLogin {
        client: login.client,
        session: login.session.as_ref().map(|session| countersign_ports::NewSession {
            replaces: Some(session.id),
            ..fixtures::new_session()
        }),
        ..fixtures::complete_login_of(login.account.clone())
    });
    let users = first.each_ref().map(|login| Some(LoginCompleted::CodeIssued { user: login.new_user }));
    assert_eq!(together(&mut connection, &again), users);
    assert_eq!(rows(&mut connection), [3, 3, 6, 3, 2]);
}

#[test]
fn a_batch_redeems_and_rotates_with_the_guards_of_the_single_operations() {
    let (_, mut connection) = migrated();
    let [good, replayed, revoked] = [signed_in, redeemed, signed_in].map(|begin| begin(&mut connection));
    fixtures::revoke_grant(revoked.token.grant).alone(&mut connection).unwrap();
    let codes = [&good, &replayed, &revoked].map(|command| fixtures::redeem_code(command.token.grant));
    let codes = codes.into_iter().chain([fixtures::redeem_code(fixtures::grant_id())]).collect::<Vec<_>>();
    assert_eq!(together(&mut connection, &codes), [Some(Redeemed::Stored), None, None, None]);

    let family = redeemed(&mut connection).token;
    let [unused, other] = [redeemed(&mut connection).token, redeemed(&mut connection).token];
    let successor = fixtures::rotate_refresh(&unused);
    successor.alone(&mut connection).unwrap();
    let rotations = [
        fixtures::rotate_refresh(&family),
        fixtures::rotate_again(&unused, &successor.token),
        RotateRefresh { expected_newest: fixtures::token_id(), ..fixtures::rotate_refresh(&other) },
    ];
    let stored = Some(Rotated::Stored);
    assert_eq!(together(&mut connection, &rotations), [stored, stored, None]);
    let is_dead = |connection: &mut PgConnection, id: TokenId| {
        FindAccess(id).alone(connection).unwrap().unwrap().token_revoked
    };
    assert!(is_dead(&mut connection, successor.token.id));
    assert!(!is_dead(&mut connection, unused.id) && !is_dead(&mut connection, family.id));
}

/// Waits until somebody is waiting for a lock in this database.
fn until_somebody_waits(connection: &mut PgConnection) {
    let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while count(connection, waiting) == 0 {
        std::thread::yield_now();
    }
}

/// Polls once, which puts the command into its line. Is it still waiting?
async fn begun<F: Future>(operation: &mut Pin<&mut F>) -> bool {
    std::future::poll_fn(|context| Poll::Ready(operation.as_mut().poll(context).is_pending())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_costs_a_batch_and_none_of_its_commands() {
    let url = migrated_url();
    let options = PgOptions {
        writers: 1,
        patience: Duration::from_secs(20),
        lock_patience: Duration::from_secs(10),
        ..PgOptions::default()
    };
    let parsed = crate::connect::connection::ConnectionUrl::parse(&url).unwrap();
    let mut watcher = parsed.open().unwrap();
    // Whoever looks first gives up. That is the writer, on a busy machine too: it looks so late that the other
    // one waits as well by then.
    let patient = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''1500ms''', \
                   current_database()); END $$";
    sql_query(patient).execute(&mut watcher).unwrap();
    let store = PgStorage::connect(&url, options).unwrap();
    let [mut first, mut other] = [(); 2].map(|()| parsed.open().unwrap());
    sql_query("SET deadlock_timeout = '60s'").execute(&mut other).unwrap();
    let [mut low, mut high, before] = [(); 3].map(|()| fixtures::spend_proof());
    (low.digest[0], high.digest[0]) = (0, 255);
    let spend = |proof: &SpendProof| {
        let digest: String = proof.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        sql_query(format!(
            "INSERT INTO spent_proofs VALUES ('\\x{digest}', '{}', now())",
            fixtures::grant_id()
        ))
    };
    let begin = |connection: &mut PgConnection| sql_query("BEGIN").execute(connection).unwrap();
    let roll_back = |connection: &mut PgConnection| sql_query("ROLLBACK").execute(connection).unwrap();

    // The writer waits for the first one, so that both proofs come into one batch.
    begin(&mut first);
    spend(&before).execute(&mut first).unwrap();
    begin(&mut other);
    spend(&high).execute(&mut other).unwrap();
    let mut one = pin!(store.spend_proof(before));
    assert!(begun(&mut one).await);
    until_somebody_waits(&mut watcher);
    let mut two = pin!(async { tokio::join!(store.spend_proof(low), store.spend_proof(high)) });
    assert!(begun(&mut two).await);
    roll_back(&mut first);

    // The batch has locked the low one and waits for the high one, which the other holds while it wants the
    // low one.
    let waits_for_other = "pg_locks WHERE NOT granted AND locktype = 'transactionid' AND transactionid = \
        (SELECT backend_xid FROM pg_stat_activity WHERE state = 'idle in transaction' \
          AND datname = current_database() AND backend_xid IS NOT NULL)";
    while count(&mut watcher, waits_for_other) == 0 {
        std::thread::yield_now();
    }
    // It can only get the low one after the batch has given up, unless the retry is faster.
    let other = tokio::task::spawn_blocking(move || {
        let spent = spend(&low).execute(&mut other);
        assert!(matches!(spent, Ok(1) | Err(DatabaseError(UniqueViolation, _))), "{spent:?}");
        roll_back(&mut other);
    });
    let (first, (second, third)) = tokio::join!(one, two);
    other.await.unwrap();
    assert!([first, second, third].into_iter().all(|answer: Result<bool, StoreError>| answer.unwrap()));
    assert_eq!(count(&mut watcher, "spent_proofs"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_works_where_no_statement_may_stay_prepared() {
    let url = format!("{}?pooler=transaction", migrated_url());
    let store = PgStorage::connect(&url, PgOptions::default()).unwrap();
    let mut connection = ConnectionUrl::parse(&url).unwrap().open_for_operations().unwrap();
    super::every_operation(&mut connection, true);
    assert_eq!(count(&mut connection, "pg_prepared_statements WHERE name <> ''"), 0);
    assert!(store.spend_proof(fixtures::spend_proof()).await.unwrap());
}

/// Holds a lock on a table until this is dropped.
fn lock_table(url: &str, table: &str) -> PgConnection {
    let mut holder = ConnectionUrl::parse(url).unwrap().open().unwrap();
    sql_query("BEGIN").execute(&mut holder).unwrap();
    sql_query(format!("LOCK TABLE {table}")).execute(&mut holder).unwrap();
    holder
}

/// Each kind of operation that needs grants, many times.
fn crowd_at_the_grants(store: &PgStorage) -> JoinSet<Result<(), StoreError>> {
    let mut crowd = JoinSet::new();
    for _ in 0..64 {
        let store = store.clone();
        crowd.spawn(async move { store.complete_login(fixtures::complete_login()).await.map(drop) });
    }
    for _ in 0..64 {
        let grant = fixtures::grant_id();
        let [first, second, third] = [(); 3].map(|()| store.clone());
        crowd.spawn(async move { first.redeem_code(fixtures::redeem_code(grant)).await.map(drop) });
        crowd.spawn(async move { second.revoke_grant(fixtures::revoke_grant(grant)).await.map(drop) });
        crowd.spawn(async move { third.find_grant(grant).await.map(drop) });
    }
    for _ in 0..16 {
        let [store, other] = [(); 2].map(|()| store.clone());
        let session = EndSession { id: fixtures::session_id(), user: fixtures::user_id(), event: None };
        crowd.spawn(async move { store.end_session(session).await.map(drop) });
        crowd.spawn(async move { other.find_account(fixtures::user_id()).await.map(drop) });
    }
    crowd
}

#[tokio::test(flavor = "multi_thread")]
async fn d_04_a_locked_table_holds_up_only_what_needs_it() {
    let url = migrated_url();
    let store = PgStorage::connect(&url, PgOptions::default()).unwrap();
    let holder = lock_table(&url, "grants");
    let mut crowd = crowd_at_the_grants(&store);
    tokio::time::sleep(Duration::from_millis(150)).await;
    for _ in 0..3 {
        let start = Instant::now();
        assert!(store.spend_proof(fixtures::spend_proof()).await.unwrap());
        let client = fixtures::register_client();
        let id = client.client.id;
        store.register_client(client).await.unwrap();
        assert!(store.find_client(id).await.unwrap().is_some());
        store.push_request(fixtures::pushed_request()).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(4), "four operations took {:?}", start.elapsed());
    }
    let mut refused = 0;
    while let Some(answer) = crowd.join_next().await {
        match answer.unwrap() {
            Err(StoreError::Unavailable(_)) => refused += 1,
            // What needs no grant after all.
            Ok(()) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(refused >= 256, "{refused}");
    drop(holder);
    store.complete_login(fixtures::complete_login()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_lock_is_carried_out_when_it_is_free() {
    let url = migrated_url();
    let patience = Duration::from_secs(20);
    let store = PgStorage::connect(&url, PgOptions { patience, ..PgOptions::default() }).unwrap();
    let holder = lock_table(&url, "grants");
    let crowd = crowd_at_the_grants(&store);
    tokio::time::sleep(Duration::from_millis(700)).await;
    drop(holder);
    for answer in crowd.join_all().await {
        answer.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d_04_a_database_with_a_table_that_is_locked_or_gone_is_not_ready() {
    let url = migrated_url();
    let store = PgStorage::connect(&url, PgOptions::default()).unwrap();
    let mut other = ConnectionUrl::parse(&url).unwrap().open().unwrap();
    for table in ["grants", "tokens", "fresh_events"] {
        store.ping().await.unwrap();
        let holder = lock_table(&url, table);
        let start = Instant::now();
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))), "{table} is locked");
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        drop(holder);
    }
    // So that the lock of a session that has ended is gone.
    while store.ping().await.is_err() {}
    for table in [
        "clients",
        "users",
        "wallets",
        "signed_consents",
        "login_sessions",
        "grants",
        "tokens",
        "fresh_events",
    ] {
        sql_query(format!("ALTER TABLE {table} RENAME TO gone")).execute(&mut other).unwrap();
        assert!(matches!(store.ping().await, Err(StoreError::Failed(_))), "{table} is gone");
        sql_query(format!("ALTER TABLE gone RENAME TO {table}")).execute(&mut other).unwrap();
        store.ping().await.unwrap();
    }
}
