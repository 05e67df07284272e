//! The server goes away and comes back, in every possible way. Each test breaks a cluster of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_adapters_postgres::{PgOptions, PgStorage};
use countersign_conformance::fixtures;
use countersign_domain::id::GrantId;
use countersign_ports::{ClientStore, LoginStore, Redeemed, StoreError, TokenStore, Upkeep};
use countersign_test_postgres::Cluster;
use tokio::task::JoinSet;

/// What D-04 allows with a thousand callers at once, and a little more for a shared machine.
const LIMIT: Duration = Duration::from_millis(3_000);

fn broken_later() -> (Cluster, PgStorage) {
    let cluster = Cluster::start();
    let storage = PgStorage::connect(&cluster.create_database(), PgOptions::default()).unwrap();
    (cluster, storage)
}

async fn timed<T>(operation: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    (operation.await, start.elapsed())
}

/// A thousand callers at once: every one must hear soon that storage is unavailable.
async fn everybody_hears_that_it_is_unavailable(storage: &PgStorage) {
    let mut callers = JoinSet::new();
    for _ in 0..1_000 {
        let storage = storage.clone();
        callers.spawn(async move { timed(storage.find_client(fixtures::client_id())).await });
    }
    for (answer, time) in callers.join_all().await {
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
        assert!(time < LIMIT, "{time:?}");
    }
}

/// Signs in and returns the code's grant.
async fn sign_in(storage: &PgStorage) -> GrantId {
    let login = fixtures::complete_login();
    let id = login.id;
    storage.complete_login(login).await.unwrap();
    id
}

async fn works_within(limit: Duration, storage: &PgStorage) {
    let start = Instant::now();
    while let Err(error) = storage.ping().await {
        assert!(start.elapsed() < limit, "{error:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d_03_a_crash_between_two_operations_is_not_noticed() {
    let (cluster, storage) = broken_later();
    // Every connection of the pool is open, and then the server kills them.
    let mut callers = JoinSet::new();
    (0..64).for_each(|_| {
        let storage = storage.clone();
        callers.spawn(async move { storage.ping().await.unwrap() });
    });
    callers.join_all().await;
    let grant = sign_in(&storage).await;
    cluster.stop_immediate();
    cluster.start_again();
    assert_eq!(storage.redeem_code(fixtures::redeem_code(grant)).await.unwrap(), Redeemed::Stored);
    let mut callers = JoinSet::new();
    (0..64).for_each(|_| {
        let storage = storage.clone();
        callers.spawn(async move { storage.ping().await.unwrap() });
    });
    callers.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_04_a_server_that_refuses_connections_is_unavailable_until_it_is_back() {
    let (cluster, storage) = broken_later();
    cluster.stop_immediate();
    everybody_hears_that_it_is_unavailable(&storage).await;
    everybody_hears_that_it_is_unavailable(&storage).await;
    cluster.start_again();
    works_within(Duration::from_secs(5), &storage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_04_a_server_that_is_frozen_is_unavailable_until_it_goes_on() {
    let (cluster, storage) = broken_later();
    cluster.pause();
    everybody_hears_that_it_is_unavailable(&storage).await;
    everybody_hears_that_it_is_unavailable(&storage).await;
    cluster.resume();
    works_within(Duration::from_secs(5), &storage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_reads_only_is_unavailable_and_so_is_its_ping() {
    let (cluster, storage) = broken_later();
    storage.ping().await.unwrap();
    cluster.execute("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    cluster.execute("postgres", "SELECT pg_reload_conf()");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let answer = storage.ping().await;
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    cluster.execute("postgres", "ALTER SYSTEM RESET default_transaction_read_only");
    cluster.execute("postgres", "SELECT pg_reload_conf()");
    works_within(Duration::from_secs(5), &storage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_into_the_queue_is_refused_at_once() {
    let cluster = Cluster::start();
    let options = PgOptions { pool_size: 1, queue: 3, ..PgOptions::default() };
    let storage = PgStorage::connect(&cluster.create_database(), options).unwrap();
    storage.ping().await.unwrap();
    cluster.pause();
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        let storage = storage.clone();
        callers.spawn(async move { timed(storage.ping()).await });
    }
    let answers = callers.join_all().await;
    cluster.resume();
    let (overloaded, waited): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|(answer, _)| matches!(answer, Err(StoreError::Overloaded)));
    assert_eq!((overloaded.len(), waited.len()), (7, 3));
    assert!(overloaded.iter().all(|(_, time)| *time < Duration::from_millis(500)), "{overloaded:?}");
}

/// Callers that sign in and redeem codes while the server crashes.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    acknowledged: Mutex<Vec<GrantId>>,
}

impl Load {
    async fn go_on(&self, storage: &PgStorage) {
        while !self.is_over.load(Ordering::Relaxed) {
            let login = fixtures::complete_login();
            let grant = login.id;
            let answer = match storage.complete_login(login).await {
                Ok(_) => storage.redeem_code(fixtures::redeem_code(grant)).await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(redeemed) => {
                    assert_eq!(redeemed, Redeemed::Stored);
                    self.acknowledged.lock().unwrap().push(grant);
                }
                Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
            }
        }
    }

    /// Returns as soon as fifty more codes are redeemed, however slow the machine is.
    fn continues(&self) {
        let redeemed = || self.acknowledged.lock().unwrap().len();
        let (before, start) = (redeemed(), Instant::now());
        while redeemed() < before + 50 {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{before} codes redeemed, then {}",
                redeemed()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d_03_crashes_under_load_lose_nothing_and_give_no_other_error() {
    let (cluster, storage) = broken_later();
    let load = Arc::new(Load::default());
    let mut callers = JoinSet::new();
    (0..16).for_each(|_| {
        let (load, storage) = (Arc::clone(&load), storage.clone());
        callers.spawn(async move { load.go_on(&storage).await });
    });
    let during = Arc::clone(&load);
    let crashes = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            during.continues();
            cluster.stop_immediate();
            std::thread::sleep(Duration::from_millis(300));
            cluster.start_again();
        }
        during.continues();
        cluster
    });
    let _cluster = crashes.await.unwrap();
    load.is_over.store(true, Ordering::Relaxed);
    callers.join_all().await;
    let acknowledged = std::mem::take(&mut *load.acknowledged.lock().unwrap());
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    for grant in acknowledged {
        let found = storage.find_grant(grant).await.unwrap();
        assert!(found.is_some_and(|found| found.redeemed), "{grant}");
    }
}
