//! The uses of clients are written down.

use std::collections::BTreeMap;

use countersign_ports::ClientUse;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::columns::{At, Ids, Keys, Moment};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn note_client_uses(db: &mut impl Database, uses: &[ClientUse]) -> Result<(), SqlError> {
    for (used_at, clients) in by_time(uses.iter().map(|used| (used.used_at, used.client.as_uuid()))) {
        NoteClientUses { used_at, clients }.run(db)?;
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
    pub NoteClientUses { used_at: At as Moment, clients: Ids as Keys },
    sqlite = "\
        UPDATE clients SET used_at = :used_at WHERE id IN (SELECT unhex(asked.value) FROM json_each(:clients) AS asked) \
        AND (used_at IS NULL OR used_at < :used_at)",
    postgres = "\
        WITH held AS MATERIALIZED ( \
          SELECT held.id FROM unnest(:clients) AS asked (id) CROSS JOIN LATERAL ( \
            SELECT id FROM clients WHERE clients.id = asked.id OFFSET 0 FOR NO KEY UPDATE \
          ) AS held \
        ) \
        UPDATE clients SET used_at = :used_at FROM held WHERE clients.id = held.id \
          AND (clients.used_at IS NULL OR clients.used_at < :used_at)"
}
