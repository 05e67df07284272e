//! What is in a database, before anything is done with it. Looking creates nothing and changes nothing.

use countersign_sql::setup::migrate::{is_ours, ran, unfinished};
use diesel::PgConnection;

use super::migrate::MigrateError;
use crate::connect::connection::ConnectionUrl;

/// What is in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// What [`migrate`](crate::migrate()) or a server set up, of this release or another.
    Ours,
    /// A database of ours that a restore or a copy did not finish filling.
    Unfinished,
    /// Nothing of ours. Another program may have tables there.
    Nothing,
}

/// Looks into a database. Blocks.
pub fn look(url: &str) -> Result<Found, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    Ok(if !ran(&mut connection)?.iter().any(|version| is_ours::<PgConnection>(version)) {
        Found::Nothing
    } else if unfinished(&mut connection)?.is_some() {
        Found::Unfinished
    } else {
        Found::Ours
    })
}
