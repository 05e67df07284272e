//! SQLite: one writer thread with shared commits, and a reader for each worker.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_group_commit::{Executor, GroupCommit, Limits};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use uuid::Uuid;

use super::clock::now_micros;
use super::store::{
    ACCESS_LIFE, Access, CODE_LIFE, Command, NewToken, REFRESH_LIFE, SCOPE, SCOPE_BITS, StoreError, hash_of,
};
use crate::statement::statement;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/sqlite");
const LIMITS: Limits = Limits { queue: 8_192, batch: 256 };
/// The settings of the real server's writer: a commit waits for the disk.
const WRITER: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
    PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -32000; \
    PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000;";
const READER: &str = "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA cache_size = -8000; \
    PRAGMA temp_store = MEMORY;";

pub(super) struct SqliteStore {
    writer: GroupCommit<Writer>,
    readers: Mutex<Vec<SqliteConnection>>,
}

pub(super) struct SqliteReader(RefCell<Option<SqliteConnection>>);

struct Writer(SqliteConnection);

/// Grant, user, client, chain, address, scope, and the times of issue and expiry.
type AccessRow = (Vec<u8>, Vec<u8>, Vec<u8>, String, String, String, i64, i64);

impl SqliteStore {
    pub(super) fn open(path: &str, readers: usize) -> Result<Self, StoreError> {
        let mut connection = SqliteConnection::establish(path)?;
        connection.batch_execute(WRITER)?;
        let migrated = connection.run_pending_migrations(MIGRATIONS).map(drop);
        migrated.map_err(|error| StoreError::Schema(error.to_string()))?;
        let reader = || -> Result<SqliteConnection, StoreError> {
            let mut connection = SqliteConnection::establish(path)?;
            connection.batch_execute(READER)?;
            Ok(connection)
        };
        let readers = (0..readers + 1).map(|_| reader()).collect::<Result<Vec<_>, _>>()?;
        let writer = GroupCommit::start("floor-writer", LIMITS, Writer(connection))?;
        Ok(Self { writer, readers: Mutex::new(readers) })
    }

    pub(super) fn clients(&self) -> Result<HashMap<Uuid, [u8; 32]>, StoreError> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = readers.last_mut().ok_or(StoreError::NoReader)?;
        let rows: Vec<(Vec<u8>, Vec<u8>)> = AllClients { nothing: &[] }.load(reader)?;
        Ok(rows.into_iter().map(|(id, hash)| (id_of(&id), hash_of(&hash))).collect())
    }

    pub(super) fn reader(&self) -> SqliteReader {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        SqliteReader(RefCell::new(readers.pop()))
    }

    pub(super) async fn write(&self, command: Command) -> Result<Option<Uuid>, StoreError> {
        Ok(self.writer.submit(command).await?)
    }
}

impl SqliteReader {
    pub(super) fn access(&self, id: Uuid) -> Result<Option<Access>, StoreError> {
        let mut reader = self.0.borrow_mut();
        let reader = reader.as_mut().ok_or(StoreError::NoReader)?;
        let living = FindLiving { place: place(id), id: id.as_bytes() };
        let row: Option<AccessRow> = match living.get_result(reader).optional()? {
            Some(row) => Some(row),
            // If two tokens have the same place, the second has no row of its own.
            None => FindAccess { id: id.as_bytes() }.get_result(reader).optional()?,
        };
        Ok(row.map(|(grant, user, client, chain, address, scope, issued_at, expires_at)| Access {
            id,
            grant: id_of(&grant),
            user: id_of(&user),
            client: id_of(&client),
            chain,
            address,
            scope,
            issued_at,
            expires_at,
        }))
    }

    pub(super) fn lives_on(&self, access: &Access) -> Result<bool, StoreError> {
        let mut reader = self.0.borrow_mut();
        let reader = reader.as_mut().ok_or(StoreError::NoReader)?;
        let lives_on = LivesOn { grant: access.grant.as_bytes(), id: access.id.as_bytes() };
        let (lives_on,): (bool,) = lives_on.get_result(reader)?;
        Ok(lives_on)
    }
}

impl Executor for Writer {
    type Command = Command;
    type Outcome = Option<Uuid>;
    type Error = diesel::result::Error;

    fn execute(&mut self, batch: &[Command]) -> Result<Vec<Option<Uuid>>, Self::Error> {
        let now = now_micros();
        self.0.batch_execute("BEGIN IMMEDIATE")?;
        let done: QueryResult<Vec<_>> =
            batch.iter().map(|command| write(&mut self.0, command, now)).collect();
        let done = done.and_then(|outcomes| self.0.batch_execute("COMMIT").map(|()| outcomes));
        if done.is_err() {
            // Undoes what is left to undo, if anything.
            let _ = self.0.batch_execute("ROLLBACK");
        }
        done
    }
}

fn write(connection: &mut SqliteConnection, command: &Command, now: i64) -> QueryResult<Option<Uuid>> {
    let user = match command {
        Command::Register(client) => {
            let insert = InsertClient {
                id: client.id.as_bytes(),
                created_at: now,
                secret_hash: &client.secret_hash,
                token_hash: &client.token_hash,
                name: &client.name,
                redirect_uris: &client.redirect_uris,
            };
            return Ok((insert.execute(connection)? == 1).then_some(client.id));
        }
        Command::Login(login) => {
            let insert = InsertGrant {
                id: login.id.as_bytes(),
                client: login.client.as_bytes(),
                wallet: &login.address,
                new_user: login.new_user.as_bytes(),
                address: &login.address,
                redirect_uri: &login.redirect_uri,
                code_hash: &login.code_hash,
                now,
                code_expires_at: now + CODE_LIFE,
                forget_after: now + CODE_LIFE,
                review_at: now + CODE_LIFE,
            };
            let user: Option<(Vec<u8>,)> = insert.get_result(connection).optional()?;
            let Some((user,)) = user else { return Ok(None) };
            if user == login.new_user.as_bytes() {
                let made = InsertUser { id: &user, now }.execute(connection)?;
                if made == 1 {
                    InsertWallet { address: &login.address, user: &user, now }.execute(connection)?;
                }
            }
            AddConsent {
                user: &user,
                client: login.client.as_bytes(),
                bits: SCOPE_BITS,
                granted_at: now,
                now,
            }
            .execute(connection)?;
            Some((user,))
        }
        Command::Exchange(exchange) => {
            let token = &exchange.token;
            let redeem = Redeem {
                now,
                newest: token.id.as_bytes(),
                forget_after: now + REFRESH_LIFE,
                id: exchange.grant.as_bytes(),
                code_hash: &exchange.code_hash,
                client: exchange.client.as_bytes(),
                redirect_uri: &exchange.redirect_uri,
                at: now,
            };
            let user: Option<(Vec<u8>,)> = redeem.get_result(connection).optional()?;
            if user.is_some() {
                insert_token(connection, token, exchange.grant.as_bytes(), None, now)?;
            }
            user
        }
        Command::Refresh(refresh) => {
            let token = &refresh.token;
            let rotate = Rotate {
                newest: token.id.as_bytes(),
                forget_after: now + REFRESH_LIFE,
                presented: refresh.expected.as_bytes(),
                refresh_hash: &refresh.refresh_hash,
                at: now,
                expected: refresh.expected.as_bytes(),
                client: refresh.client.as_bytes(),
            };
            let rotated: Option<(Vec<u8>, Vec<u8>)> = rotate.get_result(connection).optional()?;
            let Some((grant, user)) = rotated else { return Ok(None) };
            insert_token(connection, token, &grant, Some(refresh.expected.as_bytes()), now)?;
            Some((user,))
        }
        Command::Revoke(id) => {
            let done = RevokeAccess { now, id: id.as_bytes() }.execute(connection)?;
            return Ok((done == 1).then_some(*id));
        }
    };
    Ok(user.map(|(user,)| id_of(&user)))
}

fn insert_token(
    connection: &mut SqliteConnection,
    token: &NewToken,
    grant: &[u8],
    parent: Option<&[u8]>,
    now: i64,
) -> QueryResult<usize> {
    let insert = InsertToken {
        id: token.id.as_bytes(),
        grant,
        parent,
        scope: SCOPE,
        issued_at: now,
        access_hash: &token.access_hash,
        access_expires_at: now + ACCESS_LIFE,
        refresh_hash: &token.refresh_hash,
        refresh_expires_at: now + REFRESH_LIFE,
        forget_after: now + REFRESH_LIFE,
        place: place(token.id),
    };
    insert.execute(connection)
}

/// The place of an active access token's row, computed as the real server does.
fn place(token: Uuid) -> i64 {
    let bits = token.as_u128();
    i64::try_from((bits >> 80) << 12 | (bits >> 64) & 0xfff).unwrap_or_default()
}

fn id_of(bytes: &[u8]) -> Uuid {
    Uuid::from_slice(bytes).unwrap_or_default()
}

statement! {
    InsertClient on Sqlite, SqliteConnection {
        id: &'a [u8] as Binary,
        created_at: i64 as BigInt,
        secret_hash: &'a [u8] as Binary,
        token_hash: &'a [u8] as Binary,
        name: &'a str as Text,
        redirect_uris: &'a str as Text,
    } = "INSERT INTO clients (id, created_at, origin, auth_method, secret_hash, registration_token_hash, name, \
         redirect_uris, scopes, grant_types, contacts, post_logout_redirect_uris, requires_pushed_requests, \
         requires_bound_tokens) VALUES (?, ?, 'open', 'client_secret_post', ?, ?, ?, ?, 'profile', \
         'authorization_code refresh_token', '', '', FALSE, FALSE) ON CONFLICT (id) DO NOTHING"
}

statement! {
    InsertGrant on Sqlite, SqliteConnection {
        id: &'a [u8] as Binary,
        client: &'a [u8] as Binary,
        wallet: &'a str as Text,
        new_user: &'a [u8] as Binary,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        code_hash: &'a [u8] as Binary,
        now: i64 as BigInt,
        code_expires_at: i64 as BigInt,
        forget_after: i64 as BigInt,
        review_at: i64 as BigInt,
    } -> (Binary) =
        "INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
         authenticated_at, code_expires_at, forget_after, review_at) \
         VALUES (?, ?, coalesce((SELECT user_id FROM wallets \
         WHERE family = 'eip155' AND address = ?), ?), 'eip155', 'eip155:1', ?, ?, 'profile', ?, ?, ?, ?, ?) \
         ON CONFLICT (id) DO NOTHING RETURNING user_id"
}

statement! {
    InsertUser on Sqlite, SqliteConnection {
        id: &'a [u8] as Binary,
        now: i64 as BigInt,
    } = "INSERT INTO users (id, created_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
}

statement! {
    InsertWallet on Sqlite, SqliteConnection {
        address: &'a str as Text,
        user: &'a [u8] as Binary,
        now: i64 as BigInt,
    } = "INSERT INTO wallets (family, address, user_id, linked_at, chain) VALUES ('eip155', ?, ?, ?, 'eip155:1')"
}

statement! {
    AddConsent on Sqlite, SqliteConnection {
        user: &'a [u8] as Binary,
        client: &'a [u8] as Binary,
        bits: i32 as Integer,
        granted_at: i64 as BigInt,
        now: i64 as BigInt,
    } = "INSERT INTO consents (user_id, client_id, scopes, granted_at, last_used_at) VALUES (?, ?, ?, ?, ?) \
         ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = scopes | excluded.scopes, \
         last_used_at = excluded.last_used_at"
}

statement! {
    Redeem on Sqlite, SqliteConnection {
        now: i64 as BigInt,
        newest: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
        id: &'a [u8] as Binary,
        code_hash: &'a [u8] as Binary,
        client: &'a [u8] as Binary,
        redirect_uri: &'a str as Text,
        at: i64 as BigInt,
    } -> (Binary) = "UPDATE grants SET redeemed_at = ?, newest_token = ?, forget_after = ? WHERE id = ? \
         AND code_hash = ? AND client_id = ? AND redirect_uri = ? AND code_expires_at > ? AND redeemed_at IS NULL \
         AND revoked_at IS NULL RETURNING user_id"
}

statement! {
    Rotate on Sqlite, SqliteConnection {
        newest: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
        presented: &'a [u8] as Binary,
        refresh_hash: &'a [u8] as Binary,
        at: i64 as BigInt,
        expected: &'a [u8] as Binary,
        client: &'a [u8] as Binary,
    } -> (Binary, Binary) = "UPDATE grants SET newest_token = ?, forget_after = ? WHERE id = (SELECT grant_id \
         FROM tokens WHERE id = ? AND refresh_hash = ? AND refresh_expires_at > ?) AND newest_token = ? \
         AND client_id = ? AND revoked_at IS NULL RETURNING id, user_id"
}

statement! {
    InsertToken on Sqlite, SqliteConnection {
        id: &'a [u8] as Binary,
        grant: &'a [u8] as Binary,
        parent: Option<&'a [u8]> as Nullable<Binary>,
        scope: &'a str as Text,
        issued_at: i64 as BigInt,
        access_hash: &'a [u8] as Binary,
        access_expires_at: i64 as BigInt,
        refresh_hash: &'a [u8] as Binary,
        refresh_expires_at: i64 as BigInt,
        forget_after: i64 as BigInt,
        place: i64 as BigInt,
    } = "INSERT INTO tokens (id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, \
         refresh_hash, refresh_expires_at, forget_after, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
}

statement! {
    RevokeAccess on Sqlite, SqliteConnection {
        now: i64 as BigInt,
        id: &'a [u8] as Binary,
    } = "UPDATE tokens SET access_revoked_at = ? WHERE id = ? AND access_revoked_at IS NULL"
}

statement! {
    FindAccess on Sqlite, SqliteConnection {
        id: &'a [u8] as Binary,
    } -> (Binary, Binary, Binary, Text, Text, Text, BigInt, BigInt) = "SELECT g.id, g.user_id, g.client_id, g.chain, g.address, \
         t.scope, t.issued_at, t.access_expires_at FROM tokens t JOIN grants g ON g.id = t.grant_id \
         WHERE t.id = ? AND t.access_revoked_at IS NULL AND g.revoked_at IS NULL"
}

statement! {
    FindLiving on Sqlite, SqliteConnection {
        place: i64 as BigInt,
        id: &'a [u8] as Binary,
    } -> (Binary, Binary, Binary, Text, Text, Text, BigInt, BigInt) = "SELECT grant_id, user_id, client_id, chain, address, scope, \
         issued_at, expires_at FROM access_tokens a WHERE place = ? AND id = ? AND NOT EXISTS \
         (SELECT 1 FROM grants INDEXED BY grants_ended WHERE grants.id = a.grant_id AND grants.revoked_at IS NOT NULL)"
}

statement! {
    LivesOn on Sqlite, SqliteConnection {
        grant: &'a [u8] as Binary,
        id: &'a [u8] as Binary,
    } -> (Bool) = "SELECT NOT EXISTS (SELECT 1 FROM grants INDEXED BY grants_ended WHERE id = ? AND revoked_at IS NOT NULL) \
         AND NOT EXISTS (SELECT 1 FROM tokens INDEXED BY tokens_ended WHERE id = ? AND access_revoked_at IS NOT NULL)"
}

statement! {
    AllClients on Sqlite, SqliteConnection {
        nothing: &'a [u8] as Binary,
    } -> (Binary, Binary) = "SELECT id, secret_hash FROM clients WHERE id > ? AND secret_hash IS NOT NULL"
}
