//! The machine's time and random bytes, which the floor asks for directly.

use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;
use uuid::{Builder, Uuid};

/// Microseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the floor has no ports; it asks the machine")]
pub(super) fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The same time as PostgreSQL's bindings take it.
pub(super) fn at(micros: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// An id that sorts by time.
pub(super) fn ordered_id(now_micros: i64) -> Result<Uuid, getrandom::Error> {
    let millis = u64::try_from(now_micros / 1_000).unwrap_or_default();
    Ok(Builder::from_unix_timestamp_millis(millis, &random()?).into_uuid())
}
