//! The operator decides whom a client lets in.

use countersign_ports::ChangeAccess;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};

use super::record_event::record;
use crate::error::SqliteError;
use crate::statement::statement;

/// Returns whether the client existed.
pub(crate) fn change_access(
    connection: &mut SqliteConnection,
    command: &ChangeAccess,
) -> Result<bool, SqliteError> {
    let client = command.client.as_uuid();
    let store = StoreAccess {
        rule: command.rule.as_ref().map(ToString::to_string),
        release: command.release.as_ref().map(ToString::to_string),
        client: client.as_bytes(),
    };
    if store.execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

statement! {
    StoreAccess<'a> {
        rule: Option<String> as Nullable<Text>,
        release: Option<String> as Nullable<Text>,
        client: &'a [u8] as Binary,
    } = "\
        UPDATE clients SET access_rule = :rule, released_groups = coalesce(:release, released_groups) \
        WHERE id = :client"
}
