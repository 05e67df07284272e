//! Columns that both databases store, each in its own form.
//!
//! A value that none of our operations could have written is read without an error. It becomes one when the row says
//! whose it is, so that the error names the table, the column and the key ([`Row`]).

use std::fmt;

use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::SecretHash;
use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use diesel::query_builder::QueryId;
use diesel::sql_types::SqlType;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

pub use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};

use crate::SqlError;

/// An id: a BLOB of 16 bytes, or a `uuid`.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Binary")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 2950, array_oid = 2951)))]
pub struct Key;

/// A time: microseconds since 1970, or a `timestamptz`.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Long")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 1184, array_oid = 1185)))]
pub struct Moment;

/// A day: the number of a Julian day, or a `date`.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Integer")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 1082, array_oid = 1182)))]
pub struct Day;

/// A small number, or scopes as bits: an integer of any size, or one of 32 bits.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Long")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 23, array_oid = 1007)))]
pub struct Small;

/// A list of names, which a statement collects: a text with commas, or an array of texts.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Text")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 1009, array_oid = 0)))]
pub struct Names;

/// A list of ids, which a statement takes apart: hexadecimal texts in JSON, or an array of `uuid`s.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Text")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 2951, array_oid = 0)))]
pub struct Keys;

/// A list of wallets, which a statement takes apart at the space between family and address: hexadecimal texts in JSON,
/// or an array of texts.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Text")))]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 1009, array_oid = 0)))]
pub struct Accounts;

/// An id that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression)]
#[diesel(sql_type = Key)]
pub struct Id(pub Uuid);

/// A time that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression)]
#[diesel(sql_type = Moment)]
pub struct At(pub OffsetDateTime);

/// A day that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression)]
#[diesel(sql_type = Day)]
pub struct OnDay(pub Date);

/// Ids that are written.
#[derive(Debug, Clone, PartialEq, Eq, AsExpression)]
#[diesel(sql_type = Keys)]
pub struct Ids(pub Vec<Uuid>);

/// Wallets that are written, each by family and address. No family has a space.
#[derive(Debug, Clone, PartialEq, Eq, AsExpression)]
#[diesel(sql_type = Accounts)]
pub struct WalletKeys(pub Vec<(String, String)>);

/// A day as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromSqlRow)]
pub enum StoredDay {
    /// A day.
    Day(Date),
    /// A number that is not a day.
    Number(i32),
}

/// An id as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, FromSqlRow, AsExpression)]
#[diesel(sql_type = Key)]
pub enum StoredId {
    /// An id.
    Id(Uuid),
    /// Something that is not an id.
    Bytes(Vec<u8>),
}

/// A time as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, FromSqlRow, AsExpression)]
#[diesel(sql_type = Moment)]
pub enum StoredTime {
    /// A time.
    Time(OffsetDateTime),
    /// A number that is not a time.
    Number(i64),
}

/// A small number as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromSqlRow)]
pub struct StoredSmall(pub i64);

/// What a column holds, or nothing if it is of another type than the column, or no such value at all. SQLite stores
/// any type in any column: a text that is stored as a blob reads the same, but no index finds it.
#[derive(Debug, Clone, PartialEq, Eq, FromSqlRow)]
pub struct Exact<T>(pub Option<T>);

/// Names that a statement collected, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, FromSqlRow)]
pub struct StoredNames(pub Vec<String>);

/// The ids of the domain.
pub trait DomainId: Sized {
    /// Wraps an id that was read.
    fn wrap(uuid: Uuid) -> Self;
}

macro_rules! ids {
    ($($id:ident),*) => { $(
        impl From<countersign_domain::id::$id> for Id {
            fn from(id: countersign_domain::id::$id) -> Self {
                Self(id.as_uuid())
            }
        }

        impl DomainId for countersign_domain::id::$id {
            fn wrap(uuid: Uuid) -> Self {
                Self::from_uuid(uuid)
            }
        }
    )* };
}
ids!(
    AdminKeyId,
    ClientId,
    EpochId,
    EventId,
    FillingId,
    GrantId,
    InvitationId,
    PushedRequestId,
    SessionId,
    TokenId,
    UserId
);

impl StoredId {
    /// What these bytes are.
    pub fn of(bytes: Vec<u8>) -> Self {
        Uuid::from_slice(&bytes).map_or(Self::Bytes(bytes), Self::Id)
    }
}

impl StoredTime {
    /// The time so many microseconds after 1970.
    pub fn of_micros(micros: i64) -> Self {
        let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000);
        time.map_or(Self::Number(micros), Self::Time)
    }

    /// The time, if it is one.
    pub const fn time(self) -> Option<OffsetDateTime> {
        match self {
            Self::Time(time) => Some(time),
            Self::Number(_) => None,
        }
    }
}

impl From<Id> for StoredId {
    fn from(id: Id) -> Self {
        Self::Id(id.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for StoredId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(f),
        }
    }
}

/// The row that is being read, for the error if one of its values is impossible.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// Its table.
    pub table: &'static str,
    /// Its key, as people read it.
    pub key: &'a dyn fmt::Display,
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.table, self.key)
    }
}

impl Row<'_> {
    /// An id.
    pub fn id<T: DomainId>(self, column: &'static str, stored: &StoredId) -> Result<T, SqlError> {
        match stored {
            StoredId::Id(id) => Ok(T::wrap(*id)),
            StoredId::Bytes(_) => Err(self.impossible(column)),
        }
    }

    /// An id that can be absent.
    pub fn optional_id<T: DomainId>(
        self,
        column: &'static str,
        stored: Option<&StoredId>,
    ) -> Result<Option<T>, SqlError> {
        stored.map(|stored| self.id(column, stored)).transpose()
    }

    /// A time.
    pub fn time(self, column: &'static str, stored: StoredTime) -> Result<OffsetDateTime, SqlError> {
        stored.time().ok_or_else(|| self.impossible(column))
    }

    /// A time that can be absent.
    pub fn optional_time(
        self,
        column: &'static str,
        stored: Option<StoredTime>,
    ) -> Result<Option<OffsetDateTime>, SqlError> {
        stored.map(|stored| self.time(column, stored)).transpose()
    }

    /// A day.
    pub fn day(self, column: &'static str, stored: StoredDay) -> Result<Date, SqlError> {
        match stored {
            StoredDay::Day(day) => Ok(day),
            StoredDay::Number(_) => Err(self.impossible(column)),
        }
    }

    /// A value of a fixed length.
    pub fn bytes<const N: usize>(self, column: &'static str, stored: &[u8]) -> Result<[u8; N], SqlError> {
        stored.try_into().map_err(|_| self.impossible(column))
    }

    /// The hash of a secret.
    pub fn hash(self, column: &'static str, stored: &[u8]) -> Result<SecretHash, SqlError> {
        self.bytes(column, stored).map(SecretHash::from_bytes)
    }

    /// Scopes that are stored as names. No scopes are the empty text.
    pub fn scope(self, column: &'static str, stored: &str) -> Result<ScopeSet, SqlError> {
        if stored.is_empty() {
            return Ok(ScopeSet::default());
        }
        ScopeSet::from_stored(stored).map_err(|_| self.impossible(column))
    }

    /// Scopes that are stored as bits, with the operator's as names beside them.
    pub fn scope_bits(
        self,
        column: &'static str,
        stored: StoredSmall,
        own: &str,
    ) -> Result<ScopeSet, SqlError> {
        let bits = u8::try_from(stored.0).ok();
        bits.and_then(|bits| ScopeSet::from_bits_and_own(bits, own)).ok_or_else(|| self.impossible(column))
    }

    /// The error that names this row and the column.
    pub fn impossible(self, column: &'static str) -> SqlError {
        SqlError::Corrupt { table: self.table, column, row: self.key.to_string() }
    }
}

/// Microseconds since 1970; smaller parts are cut off.
pub fn micros(time: OffsetDateTime) -> i64 {
    // Every year that an OffsetDateTime can have fits.
    i64::try_from(time.unix_timestamp_nanos().div_euclid(1_000)).unwrap_or(i64::MAX)
}

/// A number as the column has it. None that was ever given is larger.
pub fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A list as the lines of one text. No item contains a line break, because registration refuses that.
pub fn lines<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().collect::<Vec<_>>().join("\n")
}

/// The items of such a text.
pub fn from_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use diesel::deserialize::{self, FromSql};
    use diesel::serialize::{self, IsNull, Output, ToSql};
    use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};

    use super::*;

    impl ToSql<Key, Sqlite> for Id {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.as_bytes().as_slice());
            Ok(IsNull::No)
        }
    }

    impl ToSql<Key, Sqlite> for StoredId {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(match self {
                Self::Id(id) => id.as_bytes().as_slice(),
                Self::Bytes(bytes) => bytes.as_slice(),
            });
            Ok(IsNull::No)
        }
    }

    impl FromSql<Key, Sqlite> for StoredId {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value).map(Self::of)
        }
    }

    impl ToSql<Moment, Sqlite> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(micros(self.0));
            Ok(IsNull::No)
        }
    }

    impl ToSql<Moment, Sqlite> for StoredTime {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(match self {
                Self::Time(time) => micros(*time),
                Self::Number(micros) => *micros,
            });
            Ok(IsNull::No)
        }
    }

    impl FromSql<Moment, Sqlite> for StoredTime {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            <i64 as FromSql<BigInt, Sqlite>>::from_sql(value).map(Self::of_micros)
        }
    }

    impl FromSql<Small, Sqlite> for StoredSmall {
        /// SQLite accepts integers of up to 8 bytes in any column. All 8 are read, so that a wrong value is noticed.
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            <i64 as FromSql<BigInt, Sqlite>>::from_sql(value).map(Self)
        }
    }

    /// The value, if it is stored as this type.
    fn exact<T>(
        value: SqliteValue<'_, '_, '_>,
        stored: SqliteType,
        read: impl FnOnce(SqliteValue<'_, '_, '_>) -> Option<T>,
    ) -> deserialize::Result<Exact<T>> {
        Ok(Exact(if value.value_type() == Some(stored) { read(value) } else { None }))
    }

    impl FromSql<Text, Sqlite> for Exact<String> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            exact(value, SqliteType::Text, |mut value| {
                let text = value.read_text().to_owned();
                // It replaces bytes that are not UTF-8, unless the text itself has it.
                let is_as_stored =
                    !text.contains(char::REPLACEMENT_CHARACTER) || value.read_blob() == text.as_bytes();
                is_as_stored.then_some(text)
            })
        }
    }

    impl FromSql<Binary, Sqlite> for Exact<Vec<u8>> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            exact(value, SqliteType::Binary, |mut value| Some(value.read_blob().to_owned()))
        }
    }

    impl FromSql<Key, Sqlite> for Exact<Uuid> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            exact(value, SqliteType::Binary, |mut value| Uuid::from_slice(value.read_blob()).ok())
        }
    }

    impl FromSql<BigInt, Sqlite> for Exact<i64> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            exact(value, SqliteType::Long, |mut value| Some(value.read_long()))
        }
    }

    impl FromSql<Small, Sqlite> for Exact<i64> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            <Self as FromSql<BigInt, Sqlite>>::from_sql(value)
        }
    }

    impl FromSql<Moment, Sqlite> for Exact<OffsetDateTime> {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            exact(value, SqliteType::Long, |mut value| StoredTime::of_micros(value.read_long()).time())
        }
    }

    impl FromSql<Names, Sqlite> for StoredNames {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            let text = <String as FromSql<Text, Sqlite>>::from_sql(value)?;
            let mut names: Vec<String> = text.split(',').map(str::to_owned).collect();
            names.sort_unstable();
            Ok(Self(names))
        }

        fn from_nullable_sql(value: Option<SqliteValue<'_, '_, '_>>) -> deserialize::Result<Self> {
            match value {
                Some(value) => <Self as FromSql<Names, Sqlite>>::from_sql(value),
                None => Ok(Self::default()),
            }
        }
    }

    impl ToSql<Keys, Sqlite> for Ids {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            let quoted: Vec<String> = self.0.iter().map(|id| format!("\"{}\"", id.simple())).collect();
            out.set_value(format!("[{}]", quoted.join(",")));
            Ok(IsNull::No)
        }
    }

    impl ToSql<Accounts, Sqlite> for WalletKeys {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
            let quoted =
                self.0.iter().map(|(family, address)| format!("\"{} {}\"", hex(family), hex(address)));
            out.set_value(format!("[{}]", quoted.collect::<Vec<_>>().join(",")));
            Ok(IsNull::No)
        }
    }

    impl ToSql<Day, Sqlite> for OnDay {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.to_julian_day());
            Ok(IsNull::No)
        }
    }

    impl FromSql<Day, Sqlite> for StoredDay {
        fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            let number = <i32 as FromSql<Integer, Sqlite>>::from_sql(value)?;
            Ok(Date::from_julian_day(number).map_or(Self::Number(number), Self::Day))
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use diesel::deserialize::{self, FromSql};
    use diesel::pg::{Pg, PgValue};
    use diesel::serialize::{self, Output, ToSql};
    use diesel::sql_types::{Array, Date as SqlDate, Timestamptz, Uuid as SqlUuid};

    use super::*;

    impl ToSql<Key, Pg> for Id {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            <Uuid as ToSql<SqlUuid, Pg>>::to_sql(&self.0, out)
        }
    }

    impl ToSql<Key, Pg> for StoredId {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            match self {
                Self::Id(id) => <Uuid as ToSql<SqlUuid, Pg>>::to_sql(id, out),
                Self::Bytes(bytes) => <[u8] as ToSql<Binary, Pg>>::to_sql(bytes, out),
            }
        }
    }

    impl FromSql<Key, Pg> for StoredId {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            <Uuid as FromSql<SqlUuid, Pg>>::from_sql(value).map(Self::Id)
        }
    }

    impl ToSql<Moment, Pg> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            <OffsetDateTime as ToSql<Timestamptz, Pg>>::to_sql(&self.0, out)
        }
    }

    impl ToSql<Moment, Pg> for StoredTime {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            match self {
                Self::Time(time) => <OffsetDateTime as ToSql<Timestamptz, Pg>>::to_sql(time, out),
                Self::Number(micros) => <i64 as ToSql<BigInt, Pg>>::to_sql(micros, out),
            }
        }
    }

    impl FromSql<Moment, Pg> for StoredTime {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            match <OffsetDateTime as FromSql<Timestamptz, Pg>>::from_sql(value) {
                Ok(time) => Ok(Self::Time(time)),
                Err(_) => <i64 as FromSql<BigInt, Pg>>::from_sql(value).map(Self::Number),
            }
        }
    }

    impl FromSql<Small, Pg> for StoredSmall {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            <i32 as FromSql<Integer, Pg>>::from_sql(value).map(|bits| Self(bits.into()))
        }
    }

    /// In PostgreSQL a column has no other type than its own.
    macro_rules! exact {
        ($($value:ty: $sql:ty as $read:ty),*) => { $(
            impl FromSql<$sql, Pg> for Exact<$value> {
                fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
                    <$value as FromSql<$read, Pg>>::from_sql(value).map(|value| Self(Some(value)))
                }
            }
        )* };
    }
    exact!(String: Text as Text, Vec<u8>: Binary as Binary, Uuid: Key as SqlUuid, i64: BigInt as BigInt);

    impl FromSql<Small, Pg> for Exact<i64> {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            <StoredSmall as FromSql<Small, Pg>>::from_sql(value).map(|StoredSmall(number)| Self(Some(number)))
        }
    }

    impl FromSql<Moment, Pg> for Exact<OffsetDateTime> {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            <StoredTime as FromSql<Moment, Pg>>::from_sql(value).map(|time| Self(time.time()))
        }
    }

    impl FromSql<Names, Pg> for StoredNames {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            <Vec<String> as FromSql<Array<Text>, Pg>>::from_sql(value).map(Self)
        }
    }

    impl ToSql<Keys, Pg> for Ids {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            <Vec<Uuid> as ToSql<Array<SqlUuid>, Pg>>::to_sql(&self.0, out)
        }
    }

    impl ToSql<Accounts, Pg> for WalletKeys {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let texts: Vec<String> =
                self.0.iter().map(|(family, address)| format!("{family} {address}")).collect();
            <Vec<String> as ToSql<Array<Text>, Pg>>::to_sql(&texts, &mut out.reborrow())
        }
    }

    impl ToSql<Day, Pg> for OnDay {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            <Date as ToSql<SqlDate, Pg>>::to_sql(&self.0, out)
        }
    }

    impl FromSql<Day, Pg> for StoredDay {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            let number = <i32 as FromSql<Integer, Pg>>::from_sql(value)?;
            Ok(<Date as FromSql<SqlDate, Pg>>::from_sql(value).map_or(Self::Number(number), Self::Day))
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::id::GrantId;

    use super::*;

    const ROW: Row<'_> = Row { table: "grants", key: &Uuid::nil() };

    #[test]
    fn what_none_of_ours_writes_names_its_row_and_column() {
        let error = ROW.time("forget_after", StoredTime::Number(i64::MAX)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stored grants 00000000-0000-0000-0000-000000000000 has an impossible forget_after"
        );
        assert!(ROW.id::<GrantId>("id", &StoredId::Bytes(vec![1, 2, 3])).is_err());
        assert!(ROW.hash("code_hash", &[0; 31]).is_err());
        assert!(ROW.scope("scope", "profile \"root\"").is_err());
        for bits in [-1, 128, 256 + 1, (1 << 32) + 1] {
            assert!(ROW.scope_bits("scopes", StoredSmall(bits), "").is_err(), "{bits}");
        }
        assert!(ROW.scope_bits("scopes", StoredSmall(1), "photos.read a\"b").is_err());
    }

    #[test]
    fn times_are_kept_to_the_microsecond_also_before_1970() {
        for offset in [-1, 0, 1, 1_000_000, -86_400_000_001] {
            assert_eq!(micros(OffsetDateTime::UNIX_EPOCH + time::Duration::microseconds(offset)), offset);
        }
    }
}
