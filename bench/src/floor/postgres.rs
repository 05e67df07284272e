//! PostgreSQL: for each kind of command there are writer threads. Each runs everything that waits as one
//! prepared statement over arrays.

mod statements;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_group_commit::{Executor, GroupCommit, Limits};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use uuid::Uuid;

use self::statements::{
    AllClients, FindAccess, InsertClients, LivesOn, Redeem, RevokeAccess, Rotate, StoreLogins,
};
use super::clock::{at, now_micros};
use super::store::{
    ACCESS_LIFE, Access, CODE_LIFE, Command, Exchange, Login, NewToken, REFRESH_LIFE, Refresh, Register,
    SCOPE_BITS, StoreError, hash_of,
};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/postgres");
const LIMITS: Limits = Limits { queue: 8_192, batch: 256 };
/// How many threads, each with its own connection, run the commands of one kind. From 64 waiting requests on,
/// two are faster than one: one sends while the other's batch is committed.
const THREADS: usize = 2;
/// Logins have one thread, so that two first logins of one wallet never run at the same time.
const LOGIN_THREADS: usize = 1;

/// The batches are small and every row is found by its key. A plan from the time when the tables were empty
/// would read whole tables.
const PLANS: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";

pub(super) struct PostgresStore {
    register: Lanes<Register, Option<Uuid>>,
    login: Lanes<Login, Option<Uuid>>,
    exchange: Lanes<Exchange, Option<Uuid>>,
    refresh: Lanes<Refresh, Option<Uuid>>,
    revoke: Lanes<Uuid, Option<Uuid>>,
    access: Lanes<Uuid, Option<Access>>,
    lives_on: Lanes<(Uuid, Uuid), bool>,
    url: String,
}

/// The threads for one kind of command.
struct Lanes<C: Send + 'static, O: Send + 'static> {
    threads: Vec<GroupCommit<Batches<C, O>>>,
    next: AtomicUsize,
}

/// Runs batches of one kind.
struct Batches<C, O> {
    connection: PgConnection,
    run: Run<C, O>,
}

type Run<C, O> = fn(&mut PgConnection, &[C]) -> QueryResult<Vec<O>>;

impl PostgresStore {
    pub(super) fn open(url: &str) -> Result<Self, StoreError> {
        let mut connection = PgConnection::establish(url)?;
        let migrated = connection.run_pending_migrations(MIGRATIONS).map(drop);
        migrated.map_err(|error| StoreError::Schema(error.to_string()))?;
        Ok(Self {
            register: Lanes::open(url, "register", THREADS, register)?,
            login: Lanes::open(url, "login", LOGIN_THREADS, login)?,
            exchange: Lanes::open(url, "exchange", THREADS, exchange)?,
            refresh: Lanes::open(url, "refresh", THREADS, refresh)?,
            revoke: Lanes::open(url, "revoke", THREADS, revoke)?,
            access: Lanes::open(url, "access", THREADS, access)?,
            lives_on: Lanes::open(url, "lives", THREADS, lives_on)?,
            url: url.to_owned(),
        })
    }

    pub(super) fn clients(&self) -> Result<HashMap<Uuid, [u8; 32]>, StoreError> {
        let mut connection = PgConnection::establish(&self.url)?;
        let rows: Vec<(Uuid, Vec<u8>)> = AllClients { after: &Uuid::nil() }.load(&mut connection)?;
        Ok(rows.into_iter().map(|(id, hash)| (id, hash_of(&hash))).collect())
    }

    pub(super) async fn write(&self, command: Command) -> Result<Option<Uuid>, StoreError> {
        match command {
            Command::Register(client) => self.register.submit(client).await,
            Command::Login(login) => self.login.submit(login).await,
            Command::Exchange(exchange) => self.exchange.submit(exchange).await,
            Command::Refresh(refresh) => self.refresh.submit(refresh).await,
            Command::Revoke(id) => self.revoke.submit(id).await,
        }
    }

    pub(super) async fn access(&self, id: Uuid) -> Result<Option<Access>, StoreError> {
        self.access.submit(id).await
    }

    pub(super) async fn lives_on(&self, access: &Access) -> Result<bool, StoreError> {
        self.lives_on.submit((access.id, access.grant)).await
    }
}

impl<C: Send + 'static, O: Send + 'static> Lanes<C, O> {
    fn open(url: &str, name: &str, threads: usize, run: Run<C, O>) -> Result<Self, StoreError> {
        let lane = |_| {
            let mut connection = PgConnection::establish(url)?;
            connection.batch_execute(PLANS)?;
            Ok(GroupCommit::start(&format!("floor-{name}"), LIMITS, Batches { connection, run })?)
        };
        let threads = (0..threads).map(lane).collect::<Result<_, StoreError>>()?;
        Ok(Self { threads, next: AtomicUsize::new(0) })
    }

    async fn submit(&self, command: C) -> Result<O, StoreError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(self.threads[turn % self.threads.len()].submit(command).await?)
    }
}

impl<C: Send + 'static, O: Send + 'static> Executor for Batches<C, O> {
    type Command = C;
    type Outcome = O;
    type Error = diesel::result::Error;

    fn execute(&mut self, batch: &[C]) -> QueryResult<Vec<O>> {
        (self.run)(&mut self.connection, batch)
    }
}

fn register(connection: &mut PgConnection, batch: &[Register]) -> QueryResult<Vec<Option<Uuid>>> {
    let statement = InsertClients {
        ids: batch.iter().map(|client| client.id).collect(),
        secret_hashes: batch.iter().map(|client| client.secret_hash.as_slice()).collect(),
        token_hashes: batch.iter().map(|client| client.token_hash.as_slice()).collect(),
        names: batch.iter().map(|client| client.name.as_str()).collect(),
        redirect_uris: batch.iter().map(|client| client.redirect_uris.as_str()).collect(),
        now: at(now_micros()),
    };
    let rows: Vec<(Uuid, Uuid)> = statement.load(connection)?;
    Ok(in_order(batch, rows, |client| client.id))
}

fn login(connection: &mut PgConnection, batch: &[Login]) -> QueryResult<Vec<Option<Uuid>>> {
    let now = now_micros();
    let statement = StoreLogins {
        ids: batch.iter().map(|login| login.id).collect(),
        clients: batch.iter().map(|login| login.client).collect(),
        new_users: batch.iter().map(|login| login.new_user).collect(),
        addresses: batch.iter().map(|login| login.address.as_str()).collect(),
        redirect_uris: batch.iter().map(|login| login.redirect_uri.as_str()).collect(),
        code_hashes: batch.iter().map(|login| login.code_hash.as_slice()).collect(),
        now: at(now),
        code_expires_at: at(now + CODE_LIFE),
        forget_after: at(now + CODE_LIFE),
        review_at: at(now + CODE_LIFE),
        linked_at: at(now),
        born_at: at(now),
        bits: SCOPE_BITS,
        granted_at: at(now),
        used_at: at(now),
    };
    let rows: Vec<(Uuid, Uuid)> = statement.load(connection)?;
    Ok(in_order(batch, rows, |login| login.id))
}

fn exchange(connection: &mut PgConnection, batch: &[Exchange]) -> QueryResult<Vec<Option<Uuid>>> {
    let (now, token) = (now_micros(), |exchange: &Exchange| exchange.token.id);
    let statement = Redeem {
        grants: batch.iter().map(|exchange| exchange.grant).collect(),
        clients: batch.iter().map(|exchange| exchange.client).collect(),
        code_hashes: batch.iter().map(|exchange| exchange.code_hash.as_slice()).collect(),
        redirect_uris: batch.iter().map(|exchange| exchange.redirect_uri.as_str()).collect(),
        tokens: batch.iter().map(token).collect(),
        access_hashes: access_hashes(batch, |exchange| &exchange.token),
        refresh_hashes: refresh_hashes(batch, |exchange| &exchange.token),
        redeemed_at: at(now),
        forget_grant_after: at(now + REFRESH_LIFE),
        now: at(now),
        issued_at: at(now),
        access_expires_at: at(now + ACCESS_LIFE),
        refresh_expires_at: at(now + REFRESH_LIFE),
        forget_token_after: at(now + REFRESH_LIFE),
    };
    let rows: Vec<(Uuid, Uuid)> = statement.load(connection)?;
    Ok(in_order(batch, rows, token))
}

fn refresh(connection: &mut PgConnection, batch: &[Refresh]) -> QueryResult<Vec<Option<Uuid>>> {
    let (now, token) = (now_micros(), |refresh: &Refresh| refresh.token.id);
    let statement = Rotate {
        presented: batch.iter().map(|refresh| refresh.expected).collect(),
        clients: batch.iter().map(|refresh| refresh.client).collect(),
        presented_hashes: batch.iter().map(|refresh| refresh.refresh_hash.as_slice()).collect(),
        tokens: batch.iter().map(token).collect(),
        access_hashes: access_hashes(batch, |refresh| &refresh.token),
        refresh_hashes: refresh_hashes(batch, |refresh| &refresh.token),
        forget_grant_after: at(now + REFRESH_LIFE),
        now: at(now),
        issued_at: at(now),
        access_expires_at: at(now + ACCESS_LIFE),
        refresh_expires_at: at(now + REFRESH_LIFE),
        forget_token_after: at(now + REFRESH_LIFE),
    };
    let rows: Vec<(Uuid, Uuid)> = statement.load(connection)?;
    Ok(in_order(batch, rows, token))
}

fn revoke(connection: &mut PgConnection, batch: &[Uuid]) -> QueryResult<Vec<Option<Uuid>>> {
    let rows: Vec<(Uuid, Uuid)> = RevokeAccess { now: at(now_micros()), ids: batch }.load(connection)?;
    Ok(in_order(batch, rows, |id| *id))
}

fn access(connection: &mut PgConnection, batch: &[Uuid]) -> QueryResult<Vec<Option<Access>>> {
    type Row = (Uuid, Uuid, Uuid, Uuid, String, String, String, time::OffsetDateTime, time::OffsetDateTime);
    let rows: Vec<Row> = FindAccess { ids: batch }.load(connection)?;
    let micros =
        |time: time::OffsetDateTime| i64::try_from(time.unix_timestamp_nanos() / 1_000).unwrap_or_default();
    let rows =
        rows.into_iter().map(|(id, grant, user, client, chain, address, scope, issued_at, expires_at)| {
            let (issued_at, expires_at) = (micros(issued_at), micros(expires_at));
            (id, Access { id, grant, user, client, chain, address, scope, issued_at, expires_at })
        });
    Ok(in_order(batch, rows.collect(), |id| *id))
}

/// For each token and its grant, whether both are still valid.
fn lives_on(connection: &mut PgConnection, batch: &[(Uuid, Uuid)]) -> QueryResult<Vec<bool>> {
    let (ids, grants): (Vec<Uuid>, Vec<Uuid>) = batch.iter().copied().unzip();
    let living: Vec<(Uuid,)> = LivesOn { ids: &ids, grants: &grants }.load(connection)?;
    let living: HashSet<Uuid> = living.into_iter().map(|(id,)| id).collect();
    Ok(ids.iter().map(|id| living.contains(id)).collect())
}

fn access_hashes<C>(batch: &[C], token: fn(&C) -> &NewToken) -> Vec<&[u8]> {
    batch.iter().map(|command| token(command).access_hash.as_slice()).collect()
}

fn refresh_hashes<C>(batch: &[C], token: fn(&C) -> &NewToken) -> Vec<&[u8]> {
    batch.iter().map(|command| token(command).refresh_hash.as_slice()).collect()
}

/// The results, in the order of the commands. If two commands have the same id, the first one gets the
/// result; reads share it.
fn in_order<C, O: Clone>(batch: &[C], rows: Vec<(Uuid, O)>, id: impl Fn(&C) -> Uuid) -> Vec<Option<O>> {
    let rows: HashMap<Uuid, O> = rows.into_iter().collect();
    batch.iter().map(|command| rows.get(&id(command)).cloned()).collect()
}
