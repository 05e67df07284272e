//! One way to run a statement on either database.

use diesel::QueryResult;
use diesel::connection::Connection;
use diesel::result::Error;

use crate::SqlError;

/// A statement that both databases can carry out.
pub trait Statement: OnSqlite + OnPostgres + Sized {
    /// Carries it out, and says how many rows it changed.
    fn run<D: Database>(self, db: &mut D) -> Result<usize, SqlError> {
        Ok(db.execute(self)?)
    }

    /// All rows that it returns.
    fn all<'q, R, D: Database>(self, db: &mut D) -> Result<Vec<R>, SqlError>
    where
        Self: Finds<'q, R>,
    {
        Ok(db.load(self)?)
    }

    /// Its row, if there is one.
    fn maybe<'q, R, D: Database>(self, db: &mut D) -> Result<Option<R>, SqlError>
    where
        Self: Finds<'q, R>,
    {
        Ok(db.load(self)?.into_iter().next())
    }

    /// Its row.
    fn one<'q, R, D: Database>(self, db: &mut D) -> Result<R, SqlError>
    where
        Self: Finds<'q, R>,
    {
        self.maybe(db)?.ok_or(SqlError::Query(Error::NotFound))
    }
}

impl<S: OnSqlite + OnPostgres> Statement for S {}

/// A statement that returns rows of this kind.
pub trait Finds<'q, R>: Statement + FindsInSqlite<'q, R> + FindsInPostgres<'q, R> {}

impl<'q, R, S: Statement + FindsInSqlite<'q, R> + FindsInPostgres<'q, R>> Finds<'q, R> for S {}

/// A connection to one of the databases. The caller of an operation in SQLite has begun a transaction.
pub trait Database: Connection {
    /// Are there several writers? Then rows must be locked, and what others do at the same moment be expected.
    const HAS_SEVERAL_WRITERS: bool;

    /// Can its statements hash?
    const CAN_HASH: bool;

    /// Carries out a statement.
    fn execute<S: Statement>(&mut self, statement: S) -> QueryResult<usize>;

    /// Carries out several statements without values.
    fn script(&mut self, script: Script) -> QueryResult<()>;

    /// The column `number` of the row of a text that is written while the program runs.
    fn number(&mut self, text: &str) -> QueryResult<i64>;

    /// Reads what a statement returns.
    fn load<'q, R, S: Finds<'q, R>>(&mut self, statement: S) -> QueryResult<Vec<R>>;

    /// Carries out several look-ups that see one state of the database.
    fn snapshot<T>(&mut self, steps: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError>;

    /// Carries out several statements as one transaction, which a refusal ends without a trace. In SQLite the writer
    /// has a transaction around it already, so nothing may be refused after something was written.
    fn all_or_nothing<T>(
        &mut self,
        steps: impl FnOnce(&mut Self) -> Result<T, Undone<T>>,
    ) -> Result<T, SqlError>;
}

/// Statements without values, as each database has them.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// In SQLite.
    pub sqlite: &'static str,
    /// In PostgreSQL.
    pub postgres: &'static str,
}

#[derive(diesel::QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

/// Why a transaction is rolled back.
#[derive(Debug)]
pub enum Undone<T> {
    /// The outcome is a refusal.
    Refused(T),
    /// There is no outcome.
    Failed(SqlError),
}

impl<T> Undone<T> {
    /// The refusal as an outcome.
    fn outcome(result: Result<T, Self>) -> Result<T, SqlError> {
        match result {
            Ok(outcome) | Err(Self::Refused(outcome)) => Ok(outcome),
            Err(Self::Failed(error)) => Err(error),
        }
    }
}

impl<T> From<SqlError> for Undone<T> {
    fn from(error: SqlError) -> Self {
        Self::Failed(error)
    }
}

impl<T> From<Error> for Undone<T> {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Implements what one database can do, and what nothing is asked of if its feature is off.
macro_rules! on {
    ($feature:literal, $runs:ident, $finds:ident, $backend:path, $connection:path, $side:ident, $several:literal, $hashes:literal,
     $snapshot:expr, $transaction:expr) => {
        /// A statement for this database.
        #[cfg(feature = $feature)]
        pub trait $runs: diesel::query_builder::QueryFragment<$backend> + diesel::query_builder::QueryId {}

        #[cfg(feature = $feature)]
        impl<S: diesel::query_builder::QueryFragment<$backend> + diesel::query_builder::QueryId> $runs for S {}

        /// A statement for this database, which the build leaves out.
        #[cfg(not(feature = $feature))]
        pub trait $runs {}

        #[cfg(not(feature = $feature))]
        impl<S> $runs for S {}

        /// A statement that returns rows of this kind from this database.
        #[cfg(feature = $feature)]
        pub trait $finds<'q, R>: diesel::query_dsl::methods::LoadQuery<'q, $connection, R> {}

        #[cfg(feature = $feature)]
        impl<'q, R, S: diesel::query_dsl::methods::LoadQuery<'q, $connection, R>> $finds<'q, R> for S {}

        /// A statement that returns rows of this kind from this database, which the build leaves out.
        #[cfg(not(feature = $feature))]
        pub trait $finds<'q, R> {}

        #[cfg(not(feature = $feature))]
        impl<'q, R, S> $finds<'q, R> for S {}

        #[cfg(feature = $feature)]
        impl Database for $connection {
            const HAS_SEVERAL_WRITERS: bool = $several;
            const CAN_HASH: bool = $hashes;

            fn execute<S: Statement>(&mut self, statement: S) -> QueryResult<usize> {
                diesel::connection::Connection::execute_returning_count(self, &statement)
            }

            fn script(&mut self, script: Script) -> QueryResult<()> {
                diesel::connection::SimpleConnection::batch_execute(self, script.$side)
            }

            fn number(&mut self, text: &str) -> QueryResult<i64> {
                let row: NumberRow =
                    diesel::query_dsl::RunQueryDsl::get_result(diesel::sql_query(text), self)?;
                Ok(row.number)
            }

            fn load<'q, R, S: Finds<'q, R>>(&mut self, statement: S) -> QueryResult<Vec<R>> {
                diesel::query_dsl::methods::LoadQuery::<'q, Self, R>::internal_load(statement, self)?.collect()
            }

            fn snapshot<T>(
                &mut self,
                steps: impl FnOnce(&mut Self) -> Result<T, SqlError>,
            ) -> Result<T, SqlError> {
                $snapshot(self, steps)
            }

            fn all_or_nothing<T>(
                &mut self,
                steps: impl FnOnce(&mut Self) -> Result<T, Undone<T>>,
            ) -> Result<T, SqlError> {
                Undone::outcome($transaction(self, steps))
            }
        }
    };
}

on!(
    "sqlite",
    OnSqlite,
    FindsInSqlite,
    diesel::sqlite::Sqlite,
    diesel::sqlite::SqliteConnection,
    sqlite,
    false,
    false,
    diesel::connection::Connection::transaction,
    apply
);
on!(
    "postgres",
    OnPostgres,
    FindsInPostgres,
    diesel::pg::Pg,
    diesel::pg::PgConnection,
    postgres,
    true,
    true,
    one_state,
    diesel::connection::Connection::transaction
);

/// SQLite's writer has begun the transaction.
#[cfg(feature = "sqlite")]
fn apply<D, T>(db: &mut D, steps: impl FnOnce(&mut D) -> T) -> T {
    steps(db)
}

/// Begins a transaction that sees what its first statement saw, as one in SQLite does.
#[cfg(feature = "postgres")]
fn one_state<T>(
    db: &mut diesel::pg::PgConnection,
    steps: impl FnOnce(&mut diesel::pg::PgConnection) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    db.build_transaction().read_only().repeatable_read().run(steps)
}
