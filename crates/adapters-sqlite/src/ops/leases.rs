//! Leases: what one replica does for all.

use countersign_ports::TakeLease;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Guard: nobody else holds it. Returns whether the holder has it.
pub(crate) fn take_lease(
    connection: &mut SqliteConnection,
    command: &TakeLease,
) -> Result<bool, SqliteError> {
    let hold = HoldLease {
        name: command.name,
        holder: &command.holder,
        now: micros(command.now),
        until: micros(command.until),
    };
    Ok(hold.execute(connection)? == 1)
}

statement! {
    HoldLease<'a> {
        name: &'static str as Text,
        holder: &'a [u8] as Binary,
        now: i64 as BigInt,
        until: i64 as BigInt,
    } = "\
        INSERT INTO leases (name, holder, held_until) VALUES (:name, :holder, :until) \
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until \
        WHERE leases.holder = excluded.holder OR leases.held_until <= :now"
}
