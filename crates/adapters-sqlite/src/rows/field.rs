//! Single fields: ids as 16 bytes, times as microseconds since 1970, lists as the lines of one text.

use countersign_domain::id::{AdminKeyId, ClientId, EpochId, EventId, GrantId, SessionId, TokenId, UserId};
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::SqliteError;

/// The row that is being read, for the error if one of its values is impossible.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'static str,
    pub(crate) key: &'a [u8],
}

impl Row<'_> {
    pub(crate) fn id<Id: FromUuid>(self, column: &'static str, bytes: &[u8]) -> Result<Id, SqliteError> {
        Uuid::from_slice(bytes).map(Id::from_uuid).map_err(|_| self.impossible(column))
    }

    pub(crate) fn optional_id<Id: FromUuid>(
        self,
        column: &'static str,
        bytes: Option<&[u8]>,
    ) -> Result<Option<Id>, SqliteError> {
        bytes.map(|bytes| self.id(column, bytes)).transpose()
    }

    pub(crate) fn bytes(self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], SqliteError> {
        bytes.try_into().map_err(|_| self.impossible(column))
    }

    pub(crate) fn hash(self, column: &'static str, bytes: &[u8]) -> Result<SecretHash, SqliteError> {
        self.bytes(column, bytes).map(SecretHash::from_bytes)
    }

    pub(crate) fn time(self, column: &'static str, micros: i64) -> Result<OffsetDateTime, SqliteError> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
            .map_err(|_| self.impossible(column))
    }

    /// Scopes that are stored as names. No scopes are the empty text.
    pub(crate) fn scope(self, column: &'static str, text: &str) -> Result<ScopeSet, SqliteError> {
        if text.is_empty() {
            return Ok(ScopeSet::default());
        }
        ScopeSet::from_stored(text).map_err(|_| self.impossible(column))
    }

    /// Scopes that are stored as bits, with the operator's as names beside them.
    pub(crate) fn scope_bits(
        self,
        column: &'static str,
        bits: i64,
        own: &str,
    ) -> Result<ScopeSet, SqliteError> {
        let scope = u8::try_from(bits).ok().and_then(|bits| ScopeSet::from_bits_and_own(bits, own));
        scope.ok_or_else(|| self.impossible(column))
    }

    /// The error that names this row and the column.
    pub(crate) fn impossible(self, column: &'static str) -> SqliteError {
        SqliteError::Corrupt { table: self.table, column, row: readable(self.key) }
    }
}

/// A key as people read it.
pub(crate) fn readable(key: &[u8]) -> String {
    match Uuid::from_slice(key) {
        Ok(id) => id.to_string(),
        Err(_) => String::from_utf8_lossy(key).into_owned(),
    }
}

/// The ids of the domain.
pub(crate) trait FromUuid {
    fn from_uuid(uuid: Uuid) -> Self;
}

macro_rules! from_uuid {
    ($($id:ty),*) => { $(
        impl FromUuid for $id {
            fn from_uuid(uuid: Uuid) -> Self {
                Self::from_uuid(uuid)
            }
        }
    )* };
}
from_uuid!(AdminKeyId, ClientId, UserId, GrantId, TokenId, SessionId, EventId, EpochId);

/// Microseconds since 1970; smaller parts are cut off.
pub(crate) fn micros(time: OffsetDateTime) -> i64 {
    // Every year that an OffsetDateTime can have fits.
    i64::try_from(time.unix_timestamp_nanos().div_euclid(1_000)).unwrap_or(i64::MAX)
}

/// A list as the lines of one text. No item contains a line break, because registration refuses that.
pub(crate) fn lines<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().collect::<Vec<_>>().join("\n")
}

/// The items of such a text.
pub(crate) fn from_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    const ROW: Row<'_> = Row { table: "grants", key: &[0; 16] };

    #[test]
    fn times_come_back_to_the_microsecond_also_before_1970() {
        for offset in [-1, 0, 1, 1_000_000, -86_400_000_001] {
            let time = OffsetDateTime::UNIX_EPOCH + Duration::microseconds(offset);
            assert_eq!(ROW.time("at", micros(time)).unwrap(), time);
        }
    }

    #[test]
    fn what_nobody_of_ours_writes_names_its_row_and_column() {
        let error = ROW.time("forget_after", i64::MAX).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stored grants 00000000-0000-0000-0000-000000000000 has an impossible forget_after"
        );
        assert!(ROW.id::<GrantId>("id", &[1, 2, 3]).is_err());
        assert!(ROW.hash("code_hash", &[0; 31]).is_err());
        assert!(ROW.scope("scope", "profile \"root\"").is_err());
        for bits in [-1, 128, 256 + 1, (1 << 32) + 1] {
            assert!(ROW.scope_bits("scopes", bits, "").is_err(), "{bits}");
        }
        assert!(ROW.scope_bits("scopes", 1, "photos.read a\"b").is_err());
    }
}
