//! Fills a database by SQL with tokens that were issued over the last 20 hours and are all valid, each with a
//! grant of its own. No access token can be valid for longer than a day.
//!
//! Ids sort by time and are computed from the row's number, so the driver knows them. Hashes are random
//! except for a sample, whose secrets the driver knows. Only grants and tokens are filled in: that is what a
//! refresh or a look-up touches.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Uuid as SqlUuid};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::flow::{Client, REDIRECT_URI, Tokens};
use crate::run::RunError;
use crate::statement::statement;

const HOUR_MILLIS: u64 = 3_600 * 1_000;
const MONTH_MILLIS: u64 = 30 * 24 * HOUR_MILLIS;
/// The time over which the tokens were issued.
const SPAN_MILLIS: u64 = 20 * HOUR_MILLIS;
/// Even the youngest is older than the shortest lifetime that a client can have.
const YOUNGEST_MILLIS: u64 = 61 * 1_000;

/// Tokens whose secrets are known.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) access: Vec<String>,
    pub(super) refresh: Vec<String>,
}

/// The values that the SQL needs.
struct Rows {
    count: u64,
    start: u64,
    client: Uuid,
}

/// Fills in this many tokens, and returns a sample of them, spread over all.
pub(super) fn fill(
    url: &str,
    client: &Client,
    example: &Tokens,
    count: u64,
    known: u64,
) -> Result<Sample, RunError> {
    let rows = Rows {
        count,
        start: now_millis().saturating_sub(SPAN_MILLIS + YOUNGEST_MILLIS),
        client: Uuid::try_parse(&client.id).unwrap_or_default(),
    };
    // Not consecutive ones: neighbors would share their pages.
    let known = known.min(count);
    let numbers = (0..known).map(|index| index.wrapping_mul(7_919) % known * (count / known));
    let (mut sample, mut hashes) = (Sample::default(), Vec::new());
    for number in numbers {
        let id = Uuid::from_u128(rows.id(number, 8));
        let Some(access) = access_token(&example.access, id) else { continue };
        let refresh = refresh_token(id);
        hashes.push((id, hash(&access), hash(&refresh)));
        sample.access.push(access);
        sample.refresh.push(refresh);
    }
    match url.strip_prefix("sqlite://") {
        Some(path) => fill_sqlite(path, &rows, &hashes),
        None => fill_postgres(url, &rows, &hashes),
    }
    .map_err(|error| RunError::Fill(error.to_string()))?;
    Ok(sample)
}

fn fill_sqlite(path: &str, rows: &Rows, hashes: &[Known]) -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = SqliteConnection::establish(path)?;
    connection
        .batch_execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -256000")?;
    connection.batch_execute(&rows.sqlite())?;
    connection.batch_execute("BEGIN")?;
    for (id, access, refresh) in hashes {
        SetHashes { access, refresh, id: id.as_bytes() }.execute(&mut connection)?;
    }
    connection.batch_execute("COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

fn fill_postgres(url: &str, rows: &Rows, hashes: &[Known]) -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = PgConnection::establish(url)?;
    connection.batch_execute(&rows.postgres())?;
    for part in hashes.chunks(1_000) {
        let statement = SetManyHashes {
            ids: part.iter().map(|(id, _, _)| *id).collect(),
            access: part.iter().map(|(_, access, _)| access.as_slice()).collect(),
            refresh: part.iter().map(|(_, _, refresh)| refresh.as_slice()).collect(),
        };
        statement.execute(&mut connection)?;
    }
    connection.batch_execute("VACUUM (ANALYZE)")?;
    connection.batch_execute("CHECKPOINT")?;
    Ok(())
}

type Known = (Uuid, [u8; 32], [u8; 32]);

impl Rows {
    /// The id of a row. The kind is a digit that tells tokens from grants.
    fn id(&self, number: u64, kind: u64) -> u128 {
        let millis = self.start + number * SPAN_MILLIS / self.count;
        let text =
            format!("{millis:012x}7{:03x}{kind}{:03x}{number:012x}", number % 4_096, number / 4_096 % 4_096);
        u128::from_str_radix(&text, 16).unwrap_or_default()
    }

    fn sqlite(&self) -> String {
        let Self { count, start, client } = self;
        let (span, client) = (SPAN_MILLIS, client.simple());
        let id = |kind: u8| {
            format!("unhex(printf('%012x7%03x{kind}%03x%012x', ms, n % 4096, n / 4096 % 4096, n))")
        };
        let (token, grant) = (id(8), id(9));
        let series = format!(
            "WITH RECURSIVE s(n, ms) AS (SELECT 0, {start} UNION ALL \
             SELECT n + 1, {start} + (n + 1) * {span} / {count} FROM s WHERE n + 1 < {count})"
        );
        // In microseconds: the refresh token is valid for a month, the access token for a day.
        let (issued, month, day) = ("ms * 1000", MONTH_MILLIS * 1_000, 24 * HOUR_MILLIS * 1_000);
        format!(
            "BEGIN; INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
             authenticated_at, code_expires_at, forget_after, review_at, redeemed_at, newest_token) {series} SELECT {grant}, \
             x'{client}', randomblob(16), 'eip155', 'eip155:1', '0x' || hex(randomblob(20)), '{REDIRECT_URI}', 'profile', \
             randomblob(32), {issued}, {issued} + 60000000, {issued} + {month}, {issued} + {month}, {issued} + 1000000, {token} FROM s; \
             INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
             refresh_expires_at, forget_after, place) {series} SELECT {token}, {grant}, 'profile', {issued}, \
             randomblob(32), {issued} + {day}, randomblob(32), {issued} + {month}, {issued} + {month}, \
             ms * 4096 + n % 4096 FROM s; COMMIT"
        )
    }

    fn postgres(&self) -> String {
        let Self { count, start, client } = self;
        let span = SPAN_MILLIS;
        let id = |kind: u8| {
            format!(
                "(lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '{kind}' || \
                 lpad(to_hex(n / 4096 % 4096), 3, '0') || lpad(to_hex(n), 12, '0'))::uuid"
            )
        };
        let (token, grant) = (id(8), id(9));
        let series = format!(
            "(SELECT n, {start} + n * {span} / {count} AS ms FROM generate_series(0::bigint, {count} - 1) AS n) AS s"
        );
        let issued = "to_timestamp(ms / 1000.0)";
        format!(
            "INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
             authenticated_at, code_expires_at, forget_after, review_at, redeemed_at, newest_token) SELECT {grant}, '{client}', \
             gen_random_uuid(), 'eip155', 'eip155:1', '0x' || left(encode(sha256(int8send(n)), 'hex'), 40), \
             '{REDIRECT_URI}', 'profile', sha256(int8send(n)), {issued}, {issued} + interval '1 minute', \
             {issued} + interval '30 days', {issued} + interval '30 days', {issued} + interval '1 second', {token} \
             FROM {series}; \
             INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
             refresh_expires_at, forget_after) SELECT {token}, {grant}, 'profile', {issued}, sha256(int8send(-n - 1)), \
             {issued} + interval '1 day', sha256(int8send(n)), {issued} + interval '30 days', \
             {issued} + interval '30 days' FROM {series}"
        )
    }
}

/// A token like the example with another id. It is valid because its hash is stored; nobody verifies its
/// signature.
fn access_token(example: &str, id: Uuid) -> Option<String> {
    let mut parts = example.split('.');
    let (header, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let (before, rest) = claims.split_once(r#""jti":""#)?;
    let after = rest.get(36..)?;
    let claims = URL_SAFE_NO_PAD.encode(format!(r#"{before}"jti":"{id}{after}"#));
    Some(format!("{header}.{claims}.{signature}"))
}

fn refresh_token(id: Uuid) -> String {
    let mut bytes = [7; 48];
    bytes[..16].copy_from_slice(id.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[expect(clippy::disallowed_methods, reason = "the rows' ages are counted back from the present")]
fn now_millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

statement! {
    SetHashes on diesel::sqlite::Sqlite, SqliteConnection {
        access: &'a [u8] as Binary,
        refresh: &'a [u8] as Binary,
        id: &'a [u8] as Binary,
    } = "UPDATE tokens SET access_hash = ?, refresh_hash = ? WHERE id = ?"
}

statement! {
    SetManyHashes on diesel::pg::Pg, PgConnection {
        ids: Vec<Uuid> as Array<SqlUuid>,
        access: Vec<&'a [u8]> as Array<Binary>,
        refresh: Vec<&'a [u8]> as Array<Binary>,
    } = "UPDATE tokens t SET access_hash = i.access, refresh_hash = i.refresh \
         FROM unnest(?, ?, ?) AS i (id, access, refresh) WHERE t.id = i.id"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gets_another_id_and_nothing_else() {
        let claims = r#"{"iss":"a","jti":"01a201b6-c59c-710c-acce-d1b7f3fe3268","scope":"profile"}"#;
        let example = format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims));
        let made = access_token(&example, Uuid::nil()).unwrap();
        let middle = URL_SAFE_NO_PAD.decode(made.split('.').nth(1).unwrap()).unwrap();
        assert_eq!(
            String::from_utf8(middle).unwrap(),
            r#"{"iss":"a","jti":"00000000-0000-0000-0000-000000000000","scope":"profile"}"#
        );
        assert_eq!(access_token("nonsense", Uuid::nil()), None);
    }

    #[test]
    fn ids_come_in_the_order_of_time_and_are_uuids_of_version_7() {
        let rows = Rows { count: 1_000_000, start: 1_795_325_084_000, client: Uuid::nil() };
        let ids: Vec<Uuid> = (0..1_000_000).step_by(99_999).map(|n| Uuid::from_u128(rows.id(n, 8))).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }
}
