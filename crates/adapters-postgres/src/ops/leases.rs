//! What one replica does for all is done by whoever holds the lease.

use countersign_ports::TakeLease;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text, Timestamptz};
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::statement::statement;

/// Returns whether the holder has the lease.
pub(crate) fn take_lease(connection: &mut PgConnection, command: &TakeLease) -> OpResult<bool> {
    let TakeLease { name, holder, now, until } = command;
    let hold = HoldLease { name, holder: holder.as_slice(), now: *now, until: *until };
    Ok(hold.execute(connection)? == 1)
}

statement! {
    /// One row if nobody else holds the lease, none otherwise.
    HoldLease<'a> {
        name: &'a str as Text,
        holder: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
        until: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO leases (name, holder, held_until) VALUES (:name, :holder, :until) \
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until \
        WHERE leases.holder = excluded.holder OR leases.held_until <= :now"
}
