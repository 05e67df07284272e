//! The uses of clients are written down.

use countersign_ports::ClientUse;

use crate::columns::{At, Ids, Keys, Moment};
use crate::database::Statement;
use crate::ops::people::sign_ins::by_time;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn note_client_uses(db: &mut impl Database, uses: &[ClientUse]) -> Result<(), SqlError> {
    for (used_at, clients) in by_time(uses.iter().map(|used| (used.used_at, used.client.as_uuid()))) {
        NoteClientUses { used_at, clients }.run(db)?;
    }
    Ok(())
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
