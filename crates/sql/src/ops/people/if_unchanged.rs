//! Changes of a group that are carried out only if it is as it was read.
//!
//! Among several writers, a lock keeps it so from the comparison until the commit.

use countersign_ports::{GroupChange, IfGroupUnchanged};

use super::{manage_groups, read_groups};
use crate::columns::Text;
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: the group is as it was read. Returns whether it was, and the change was made.
pub fn if_group_unchanged<D: Database>(db: &mut D, command: &IfGroupUnchanged) -> Result<bool, SqlError> {
    let name = &command.read.group.name;
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            LockGroup { name: name.as_str() }.run(db)?;
        }
        // A statement of its own: it sees the members that the lock waited for.
        if read_groups::find_group(db, name)?.as_ref() != Some(&command.read) {
            return Ok(false);
        }
        let changed = match &command.change {
            GroupChange::Retitle(change) => manage_groups::retitle_group(db, change),
            GroupChange::Delete(change) => manage_groups::delete_group(db, change),
        };
        Ok(changed?)
    })
}

statement! {
    LockGroup<'a> { name: &'a str as Text },
    sqlite = "SELECT 1",
    postgres = "SELECT FROM user_groups WHERE name = :name FOR UPDATE"
}
