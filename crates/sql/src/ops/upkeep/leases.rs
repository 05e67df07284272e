//! The replica that holds the lease does the work that only one replica should do.

use countersign_ports::TakeLease;

use crate::columns::{At, Binary, Moment, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether the holder has the lease.
pub fn take_lease(db: &mut impl Database, command: &TakeLease) -> Result<bool, SqlError> {
    let TakeLease { name, holder, now, until } = command;
    let hold = HoldLease { name, holder: holder.as_slice(), now: At(*now), until: At(*until) };
    Ok(hold.run(db)? == 1)
}

statement! {
    /// One row if no one else holds the lease, none otherwise.
    pub HoldLease<'a> {
        name: &'a str as Text,
        holder: &'a [u8] as Binary,
        now: At as Moment,
        until: At as Moment,
    } = "\
        INSERT INTO leases (name, holder, held_until) VALUES (:name, :holder, :until) \
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until \
        WHERE leases.holder = excluded.holder OR leases.held_until <= :now"
}
