//! What stands between us and the server.
//!
//! A pooler that hands out server connections for one transaction each (`PgBouncer` with `pool_mode = transaction`) lets
//! nothing last on a connection: no setting, no prepared statement, no lock of a session. With `?pooler=transaction` in
//! the URL we need none of these. Without it we look whether a connection is ours alone, because such a pooler would
//! otherwise fail later, and only now and then.

use diesel::connection::CacheSize;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::{define_sql_function, select};

use crate::connection::ConnectError;

/// Whose the connections are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// A connection is one session of the server, for as long as we keep it.
    Session,
    /// Each transaction may meet another session.
    Transaction,
}

/// The URL's parameter that says so. libpq does not know it.
const PARAMETER: &str = "pooler=";

impl Pooling {
    /// Takes the parameter out of the others.
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

    /// Looks whether the server is as we need it. `connect` opens one more connection.
    pub(crate) fn check(
        self,
        connect: impl Fn() -> Result<PgConnection, ConnectError>,
    ) -> Result<(), ConnectError> {
        let refused = |error: diesel::result::Error| ConnectError::Refused(error.to_string());
        let connect = || {
            let mut connection = connect()?;
            // A statement that is prepared ahead may be there already, in a session that is lent to us.
            connection.set_prepared_statement_cache_size(CacheSize::Disabled);
            Ok(connection)
        };
        let mut connection = connect()?;
        match self {
            Self::Session => {
                let mut other = connect()?;
                if session(&mut connection).map_err(refused)? == session(&mut other).map_err(refused)? {
                    return Err(ConnectError::SharedSession);
                }
            }
            Self::Transaction => {
                if !is_safe_by_default(&mut connection).map_err(refused)? {
                    return Err(ConnectError::UnsafeDefaults);
                }
            }
        }
        Ok(())
    }
}

define_sql_function! {
    /// The process of the server that serves us.
    fn pg_backend_pid() -> Integer;
}

/// Two connections that are open have two processes, unless a pooler lends them one in turn.
fn session(connection: &mut PgConnection) -> QueryResult<i32> {
    select(pg_backend_pid()).get_result(connection)
}

/// Does the server make commits durable, and isolate transactions as we expect, without being told on each connection?
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
