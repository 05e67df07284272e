//! The last sign-ins of users are written down.

use countersign_ports::UserSeen;

use crate::columns::{At, Ids, Keys, Moment};
use crate::database::Statement;
use crate::ops::clients::client_uses::by_time;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn note_sign_ins(db: &mut impl Database, seen: &[UserSeen]) -> Result<(), SqlError> {
    for (at, users) in by_time(seen.iter().map(|seen| (seen.at, seen.user.as_uuid()))) {
        NoteSignIns { at, users }.run(db)?;
    }
    Ok(())
}

statement! {
    /// A first sign-in is when the user was created, and needs no write.
    pub NoteSignIns { at: At as Moment, users: Ids as Keys },
    sqlite = "\
        UPDATE users SET seen_at = :at WHERE id IN (SELECT unhex(asked.value) FROM json_each(:users) AS asked) \
        AND coalesce(seen_at, created_at) < :at",
    postgres = "\
        WITH held AS MATERIALIZED ( \
          SELECT held.id FROM unnest(:users) AS asked (id) CROSS JOIN LATERAL ( \
            SELECT id FROM users WHERE users.id = asked.id OFFSET 0 FOR NO KEY UPDATE \
          ) AS held \
        ) \
        UPDATE users SET seen_at = :at FROM held WHERE users.id = held.id \
          AND coalesce(users.seen_at, users.created_at) < :at"
}
