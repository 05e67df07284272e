//! Poolers between us and the server.
//!
//! A pooler that lends out server connections for one transaction each (`PgBouncer` with `pool_mode =
//! transaction`) keeps nothing of a connection: no settings, no prepared statements, no session locks. With
//! `?pooler=transaction` in the URL we use none of these. Without it we check that a connection is ours
//! alone, because such a pooler would otherwise cause errors later, and only now and then.

use diesel::connection::CacheSize;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::{define_sql_function, select};

use crate::error::ConnectError;

/// Who else uses a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// A connection is one session of the server for as long as we keep it.
    Session,
    /// Each transaction may run in another session.
    Transaction,
}

/// The URL's parameter for this. libpq does not know it.
const PARAMETER: &str = "pooler=";

impl Pooling {
    /// Removes the parameter from the others.
    pub(crate) fn take_from(parameters: &str) -> Result<(Self, String), ConnectError> {
        let mut pooling = Self::Session;
        let mut others = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.strip_prefix(PARAMETER) {
                None => others.push(parameter),
                Some("session") => pooling = Self::Session,
                Some("transaction") => pooling = Self::Transaction,
                Some(_) => return Err(ConnectError::NoSuchPooler),
            }
        }
        Ok((pooling, others.join("&")))
    }

    /// Checks with a connection that the server is set up as we need it. `connect` opens another connection.
    pub(crate) fn check(
        self,
        connection: &mut PgConnection,
        connect: impl Fn() -> Result<PgConnection, ConnectError>,
    ) -> Result<(), ConnectError> {
        let refused = |error: diesel::result::Error| ConnectError::Refused(error.to_string());
        match self {
            Self::Session => {
                let mut other = connect()?;
                // A pooler may lend us a session in which a statement of the same name is already prepared.
                for connection in [&mut *connection, &mut other] {
                    connection.set_prepared_statement_cache_size(CacheSize::Disabled);
                }
                if session(connection).map_err(refused)? == session(&mut other).map_err(refused)? {
                    return Err(ConnectError::SharedSession);
                }
                connection.set_prepared_statement_cache_size(CacheSize::Unbounded);
            }
            Self::Transaction => {
                if !is_safe_by_default(connection).map_err(refused)? {
                    return Err(ConnectError::UnsafeDefaults);
                }
            }
        }
        Ok(())
    }
}

define_sql_function! {
    /// The server process of this connection.
    fn pg_backend_pid() -> Integer;
}

/// Two open connections have two server processes, unless a pooler lends the same one to both.
fn session(connection: &mut PgConnection) -> QueryResult<i32> {
    select(pg_backend_pid()).get_result(connection)
}

/// Are commits durable and transactions isolated as we expect, without setting it on each connection?
fn is_safe_by_default(connection: &mut PgConnection) -> QueryResult<bool> {
    let is_safe = "current_setting('synchronous_commit') <> 'off' \
        AND current_setting('default_transaction_isolation') = 'read committed'";
    select(diesel::dsl::sql::<Bool>(is_safe)).get_result(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parameters: &str) -> (Pooling, String) {
        Pooling::take_from(parameters).unwrap()
    }

    #[test]
    fn the_parameter_is_taken_out_wherever_it_stands() {
        assert_eq!(taken(""), (Pooling::Session, String::new()));
        assert_eq!(taken("pooler=transaction"), (Pooling::Transaction, String::new()));
        assert_eq!(taken("a=1&pooler=transaction&b=2"), (Pooling::Transaction, "a=1&b=2".to_owned()));
        assert_eq!(taken("sslmode=require&pooler=session"), (Pooling::Session, "sslmode=require".to_owned()));
    }

    #[test]
    fn another_kind_of_pooler_is_refused() {
        assert!(matches!(Pooling::take_from("pooler=statement"), Err(ConnectError::NoSuchPooler)));
    }
}
