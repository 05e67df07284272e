//! Resources are opened to a client, or closed.

use countersign_ports::ChangeResources;

use crate::columns::{Id, Key, Text, from_lines, lines};
use crate::database::Statement;
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether the client existed.
pub fn change_resources(db: &mut impl Database, command: &ChangeResources) -> Result<bool, SqlError> {
    let client = Id::from(command.client);
    db.all_or_nothing(|db| {
        let stored: Option<String> = HoldResources { client }.maybe(db)?;
        let Some(stored) = stored else { return Ok(false) };
        let mut resources = from_lines(&stored).map(str::to_owned).collect();
        command.change.apply(&mut resources);
        let resources = &lines(resources.iter().map(String::as_str));
        if *resources == stored {
            return Ok(true);
        }
        StoreResources { resources, client }.run(db)?;
        record(db, command.event.as_deref())?;
        Ok(true)
    })
}

statement! {
    /// The lock keeps others from changing the list between the read and the update.
    HoldResources { client: Id as Key } -> Text,
    sqlite = "SELECT resources FROM clients WHERE id = :client",
    postgres = "SELECT resources FROM clients WHERE id = :client FOR UPDATE"
}

statement! {
    StoreResources<'a> { resources: &'a str as Text, client: Id as Key } = "\
        UPDATE clients SET resources = :resources WHERE id = :client"
}
