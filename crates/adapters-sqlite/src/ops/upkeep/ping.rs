//! Can the database do what a sign-in and an exchange need?

use countersign_sql::schema::signing_keys;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::error::SqliteError;

/// Writes a page without changing it, after a look at every table that a sign-in and an exchange need. Once that is on disk, the writer is alive, nothing locks it out, and
/// there is room.
pub(crate) fn ping(connection: &mut SqliteConnection) -> Result<(), SqliteError> {
    connection.batch_execute(TOUCH)?;
    let newest = signing_keys::table.select(signing_keys::kid).order(signing_keys::kid.desc()).limit(1);
    let Some(kid) = newest.first::<String>(connection).optional()? else { return Ok(()) };
    diesel::update(signing_keys::table.find(&kid)).set(signing_keys::kid.eq(&kid)).execute(connection)?;
    Ok(())
}

/// No id is empty, so this changes nothing. It fails if a table is gone.
const TOUCH: &str = "\
    UPDATE clients SET id = id WHERE id = x''; \
    UPDATE users SET id = id WHERE id = x''; \
    UPDATE wallets SET user_id = user_id WHERE user_id = x''; \
    UPDATE signed_consents SET user_id = user_id WHERE user_id = x''; \
    UPDATE login_sessions SET id = id WHERE id = x''; \
    UPDATE grants SET id = id WHERE id = x''; \
    UPDATE tokens SET id = id WHERE id = x''; \
    UPDATE access_tokens SET place = place WHERE place = -1; \
    UPDATE fresh_events SET id = id WHERE id = x'';";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::database;

    #[test]
    fn d_04_a_database_without_a_table_that_sign_ins_and_exchanges_need_is_not_ready() {
        for table in [
            "clients",
            "users",
            "wallets",
            "signed_consents",
            "login_sessions",
            "grants",
            "tokens",
            "access_tokens",
            "fresh_events",
            "signing_keys",
        ] {
            let (_folder, mut connection) = database();
            ping(&mut connection).unwrap();
            connection.batch_execute(&format!("PRAGMA foreign_keys = OFF; DROP TABLE {table}")).unwrap();
            assert!(ping(&mut connection).is_err(), "without {table}");
        }
    }
}
