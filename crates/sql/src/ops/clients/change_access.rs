//! The operator decides who can sign in to a client.

use countersign_ports::ChangeAccess;

use crate::columns::{Bool, Id, Key, Nullable, Text};
use crate::database::Statement;
use crate::ops::events::record_event::act_and_record;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether the client existed. A rule and a release that it has already change nothing.
pub fn change_access(db: &mut impl Database, command: &ChangeAccess) -> Result<bool, SqlError> {
    let client = Id::from(command.client);
    let store = StoreAccess {
        rule: command.rule.as_ref().map(ToString::to_string),
        release: command.release.as_ref().map(ToString::to_string),
        client,
    };
    let is_changed = act_and_record(db, command.event.as_deref(), |db| Ok(store.run(db)? == 1))?;
    Ok(is_changed || IsThere { client }.one(db)?)
}

statement! {
    /// One row if something changes, none otherwise.
    StoreAccess {
        rule: Option<String> as Nullable<Text>,
        release: Option<String> as Nullable<Text>,
        client: Id as Key,
    },
    sqlite = "\
        UPDATE clients SET access_rule = :rule, released_groups = coalesce(:release, released_groups) \
        WHERE id = :client AND (access_rule IS NOT :rule OR released_groups <> coalesce(:release, released_groups))",
    postgres = "\
        UPDATE clients SET access_rule = :rule, released_groups = COALESCE(:release, released_groups) \
        WHERE id = :client \
          AND (access_rule IS DISTINCT FROM :rule OR released_groups <> COALESCE(:release, released_groups))"
}

statement! {
    IsThere { client: Id as Key } -> Bool = "SELECT EXISTS (SELECT 1 FROM clients WHERE id = :client)"
}
