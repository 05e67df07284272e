//! The last sign-ins of users are written down.

use std::collections::BTreeMap;

use countersign_ports::UserSeen;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::columns::{At, Ids, Keys, Moment};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn note_sign_ins(db: &mut impl Database, seen: &[UserSeen]) -> Result<(), SqlError> {
    for (at, users) in by_time(seen.iter().map(|seen| (seen.at, seen.user.as_uuid()))) {
        NoteSignIns { at, users }.run(db)?;
    }
    Ok(())
}

/// What was used at each time. Times are noted to the minute or the second, so there are few. The ids are in one
/// order, so that two replicas that lock the same rows do not wait for each other.
pub(crate) fn by_time(uses: impl Iterator<Item = (OffsetDateTime, Uuid)>) -> Vec<(At, Ids)> {
    let mut by_time: BTreeMap<OffsetDateTime, Vec<Uuid>> = BTreeMap::new();
    for (at, id) in uses {
        by_time.entry(at).or_default().push(id);
    }
    let sorted = |(at, mut ids): (OffsetDateTime, Vec<Uuid>)| {
        ids.sort_unstable();
        (At(at), Ids(ids))
    };
    by_time.into_iter().map(sorted).collect()
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
