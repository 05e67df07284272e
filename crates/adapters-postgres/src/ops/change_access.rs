//! The operator decides whom a client lets in.

use countersign_ports::ChangeAccess;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use super::transaction::act_and_record;
use crate::error::OpResult;
use crate::statement::statement;

/// Returns whether the client existed.
pub(crate) fn change_access(connection: &mut PgConnection, command: &ChangeAccess) -> OpResult<bool> {
    let store = StoreAccess {
        rule: command.rule.as_ref().map(ToString::to_string),
        release: command.release.as_ref().map(ToString::to_string),
        client: command.client.as_uuid(),
    };
    act_and_record(
        connection,
        command.event.as_deref(),
        |was_there| *was_there,
        |connection| Ok(store.execute(connection)? == 1),
    )
}

statement! {
    StoreAccess {
        rule: Option<String> as Nullable<Text>,
        release: Option<String> as Nullable<Text>,
        client: Uuid as SqlUuid,
    } = "\
        UPDATE clients SET access_rule = :rule, released_groups = COALESCE(:release, released_groups) \
        WHERE id = :client"
}
