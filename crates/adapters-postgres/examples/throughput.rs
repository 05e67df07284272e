//! Measures the operations of a sign-in: how many per second, how long one takes, and how much processor time
//! it costs, which does not change when others use the machine, too (Linux only).
//!
//! `cargo run --release -p countersign-adapters-postgres --example throughput -- [seconds] [callers…]` starts
//! a PostgreSQL of its own, unless `THROUGHPUT_URL` names an empty database of a server on this machine.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for the terminal")]

use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_adapters_postgres::{PgOptions, PgStorage};
use countersign_conformance::fixtures;
use countersign_domain::checkpoint::{
    Checkpoint, Digest256, MAX_EVENTS, Salt, SealedEvent, SignedCheckpoint, merkle_root,
};
use countersign_domain::client::Client;
use countersign_domain::event::{Actor, Details, Event, EventKind};
use countersign_domain::id::{ClientId, EventId};
use countersign_domain::particulars::Particulars;
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::token::Token;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ClientStore, CompleteLogin, EventStore, LoginStore, Redeemed, RegisterClient, Revoked, Rotated,
    SealEvents, Sealed, TokenStore,
};
use countersign_test_postgres::Cluster;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use tokio::task::JoinSet;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(1.0, |seconds| seconds.parse().unwrap());
    let mut callers: Vec<usize> = arguments.map(|callers| callers.parse().unwrap()).collect();
    if callers.is_empty() {
        callers = vec![1, 64];
    }
    let given = std::env::var("THROUGHPUT_URL").ok();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for callers in callers {
        let url = given.clone().unwrap_or_else(|| Cluster::shared().create_database());
        let bench = Bench {
            store: PgStorage::connect(&url, PgOptions::default()).unwrap(),
            client: fixtures::client_id(),
            callers,
            time: Duration::from_secs_f64(seconds),
            postmaster: postmaster(&url),
            logins: Mutex::default(),
            tokens: Mutex::default(),
            refreshed: Mutex::default(),
            next: AtomicUsize::new(0),
        };
        runtime.block_on(sign_ins(&Arc::new(bench)));
    }
}

struct Bench {
    store: PgStorage,
    client: ClientId,
    callers: usize,
    time: Duration,
    /// The parent of the server's processes.
    postmaster: u64,
    logins: Mutex<Vec<CompleteLogin>>,
    tokens: Mutex<Vec<Token>>,
    refreshed: Mutex<Vec<Token>>,
    next: AtomicUsize,
}

async fn sign_ins(bench: &Arc<Bench>) {
    let client = Client { id: bench.client, ..fixtures::client() };
    bench.store.register_client(RegisterClient { client, event: None }).await.unwrap();
    measure(bench, "register_client", |bench| async move {
        bench.store.register_client(fixtures::register_client()).await.is_ok()
    })
    .await;
    measure(bench, "find_client", |bench| async move {
        bench.store.find_client(bench.client).await.unwrap().is_some()
    })
    .await;
    // Twice, because the rates of one machine differ more from minute to minute.
    for _ in 0..2 {
        for (name, is_told) in [("complete_login", false), ("with an event", true)] {
            measure(bench, name, move |bench| async move {
                bench.login(fixtures::wallet_account(), is_told).await
            })
            .await;
        }
        for (name, is_told) in [("login again", false), ("with an event", true)] {
            measure(bench, name, move |bench| async move {
                let account = bench.any(&bench.logins).account;
                bench.login(account, is_told).await
            })
            .await;
        }
    }
    seal(bench).await;
    measure(bench, "find_grant", |bench| async move {
        bench.store.find_grant(bench.any(&bench.logins).id).await.unwrap().is_some()
    })
    .await;
    measure(bench, "redeem_code", |bench| async move { bench.redeem().await }).await;
    measure(bench, "find_refresh", |bench| async move {
        bench.store.find_refresh(bench.any(&bench.tokens).id).await.unwrap().is_some()
    })
    .await;
    measure(bench, "find_access", |bench| async move {
        bench.store.find_access(bench.any(&bench.tokens).id).await.unwrap().is_some()
    })
    .await;
    measure(bench, "rotate_refresh", |bench| async move { bench.rotate().await }).await;
    measure(bench, "revoke_token", |bench| async move { bench.revoke().await }).await;
    measure(bench, "whole flow", |bench| async move {
        bench.store.find_client(bench.client).await.unwrap();
        bench.login(fixtures::wallet_account(), true).await;
        let grant = bench.any(&bench.logins).id;
        bench.store.find_grant(grant).await.unwrap();
        let redeemed = bench.redeem().await;
        bench.store.find_refresh(fixtures::token_id()).await.unwrap();
        let rotated = bench.rotate().await;
        bench.store.find_access(fixtures::token_id()).await.unwrap();
        redeemed && rotated && bench.revoke().await
    })
    .await;
}

/// Each step uses what an earlier one left. Returns `false` if nothing is left.
impl Bench {
    async fn login(&self, account: WalletAccount, is_told: bool) -> bool {
        let particulars = Particulars::default();
        let mut login =
            CompleteLogin { client: self.client, particulars, ..fixtures::complete_login_of(account) };
        login.event = is_told.then(|| Box::new(sign_in(&login)));
        self.store.complete_login(login.clone()).await.unwrap();
        self.logins.lock().unwrap().push(login);
        true
    }

    async fn redeem(&self) -> bool {
        let Some(login) = take(&self.logins) else { return false };
        let redeem = fixtures::redeem_code(login.id);
        assert_eq!(self.store.redeem_code(redeem.clone()).await.unwrap(), Redeemed::Stored);
        self.tokens.lock().unwrap().push(redeem.token);
        true
    }

    async fn rotate(&self) -> bool {
        let Some(token) = take(&self.tokens) else { return false };
        let rotate = fixtures::rotate_refresh(&token);
        assert_eq!(self.store.rotate_refresh(rotate.clone()).await.unwrap(), Rotated::Stored);
        self.refreshed.lock().unwrap().push(rotate.token);
        true
    }

    async fn revoke(&self) -> bool {
        let Some(token) = take(&self.refreshed) else { return false };
        let revoked = self.store.revoke_token(fixtures::revoke_token(&token)).await.unwrap();
        assert_eq!(revoked, Revoked::Revoked);
        true
    }

    /// One after the other.
    fn any<T: Clone>(&self, of: &Mutex<Vec<T>>) -> T {
        let all = of.lock().unwrap();
        all[self.next.fetch_add(1, Ordering::Relaxed) % all.len()].clone()
    }
}

fn sign_in(login: &CompleteLogin) -> Event {
    Event {
        id: EventId::from_uuid(fixtures::grant_id().as_uuid()),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: None,
        wallet: Some(login.account.clone()),
        client: Some(login.client),
        address: Some(PeerAddress::network([203, 0, 113, 77].into())),
        request: Some("0123456789abcdef0123456789abcdef".to_owned()),
        details: Details::default().flag("session", true),
        signed: None,
    }
}

/// Seals what the logins left, and tells how long the commits took.
async fn seal(bench: &Bench) {
    let mut taken = Vec::new();
    for number in 1.. {
        let fresh = bench.store.fresh_events(MAX_EVENTS).await.unwrap();
        if fresh.is_empty() {
            break;
        }
        let first = 1 + u64::from(MAX_EVENTS) * (number - 1);
        let events: Vec<SealedEvent> = (first..)
            .zip(fresh)
            .map(|(position, event)| SealedEvent::seal(position, event, Salt::new([7; 16])))
            .collect();
        let leaves: Vec<_> = events.iter().map(SealedEvent::leaf).collect();
        let checkpoint = Checkpoint {
            number,
            sealed_at: fixtures::NOW,
            first,
            events: u32::try_from(events.len()).unwrap(),
            root: merkle_root(&leaves),
            previous: Digest256::NOTHING,
            kept_from: 1,
        };
        let checkpoint = SignedCheckpoint { checkpoint, jws: String::new() };
        let start = Instant::now();
        assert_eq!(
            bench.store.seal_events(SealEvents { checkpoint, events, counts: Vec::new() }).await.unwrap(),
            Sealed::Sealed
        );
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    let at = |share: usize| taken.get(taken.len() * share / 100).copied().unwrap_or_default();
    println!("sealing {MAX_EVENTS}: {} commits  p50 {:>9.3?}  p99 {:>9.3?}", taken.len(), at(50), at(99));
}

fn take<T>(from: &Mutex<Vec<T>>) -> Option<T> {
    from.lock().unwrap().pop()
}

/// All callers repeat one step until the time is over or nothing is left to do.
async fn measure<F>(bench: &Arc<Bench>, name: &str, step: impl Fn(Arc<Bench>) -> F + Copy + Send + 'static)
where
    F: Future<Output = bool> + Send,
{
    let (before, start) = (Used::now(bench.postmaster), Instant::now());
    let end = start + bench.time;
    let mut callers = JoinSet::new();
    for _ in 0..bench.callers {
        let bench = Arc::clone(bench);
        callers.spawn(async move {
            let mut taken = Vec::new();
            while Instant::now() < end {
                let begun = Instant::now();
                if !step(Arc::clone(&bench)).await {
                    break;
                }
                taken.push(begun.elapsed());
            }
            taken
        });
    }
    let mut taken = callers.join_all().await.concat();
    let rate = taken.len() as f64 / start.elapsed().as_secs_f64();
    let (by_server, by_us) = Used::now(bench.postmaster).since(before, taken.len());
    taken.sort_unstable();
    let at = |share: usize| taken.get(taken.len() * share / 100).copied().unwrap_or_default();
    println!(
        "{name:<16} {:>4} {rate:>9.0}/s  p50 {:>9.3?}  p99 {:>9.3?}  processor {by_server:>6.1} + {by_us:>5.1} µs",
        bench.callers,
        at(50),
        at(99),
    );
}

/// The processor time that was used, in ticks of a hundredth of a second.
#[derive(Clone, Copy)]
struct Used {
    by_server: u64,
    by_us: u64,
}

impl Used {
    fn now(postmaster: u64) -> Self {
        let mut used = Self { by_server: 0, by_us: 0 };
        for entry in std::fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            let Some(fields) = stat(&path) else { continue };
            if fields[1] == postmaster {
                used.by_server += fields[11] + fields[12];
            }
        }
        if let Some(fields) = stat(Path::new("/proc/self")) {
            used.by_us = fields[11] + fields[12];
        }
        used
    }

    /// Microseconds per operation.
    fn since(self, before: Self, operations: usize) -> (f64, f64) {
        let each = |ticks: u64| ticks as f64 * 10_000.0 / operations.max(1) as f64;
        (each(self.by_server.saturating_sub(before.by_server)), each(self.by_us - before.by_us))
    }
}

/// The numbers that the kernel lists for a process, from its state on; `None` if it is gone.
fn stat(process: &Path) -> Option<Vec<u64>> {
    let told = std::fs::read_to_string(process.join("stat")).ok()?;
    let (_, told) = told.rsplit_once(") ")?;
    Some(told.split(' ').map(|field| field.parse().unwrap_or_default()).collect())
}

fn postmaster(url: &str) -> u64 {
    let mut connection = PgConnection::establish(url).unwrap();
    let backend: i32 =
        diesel::select(sql::<Integer>("pg_backend_pid()")).get_result(&mut connection).unwrap();
    stat(Path::new(&format!("/proc/{backend}"))).unwrap()[1]
}
