//! Restoring a backup begins an epoch.

use countersign_domain::epoch::{Epoch, Lineage};
use countersign_ports::RaiseEpoch;

use crate::columns::{At, BigInt, Bool, Id, Key, Moment, Nullable, Row, StoredId, StoredTime};
use crate::database::{Script, Statement};
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn epoch(db: &mut impl Database) -> Result<Option<Epoch>, SqlError> {
    let row: Option<EpochRow> = NewestEpoch { above: 0 }.maybe(db)?;
    row.map(read).transpose()
}

pub fn lineage(db: &mut impl Database) -> Result<Lineage, SqlError> {
    let row: LineageRow = ReadLineage { above: 0 }.one(db)?;
    let (epoch, filling, is_unfinished) = row;
    Ok(Lineage {
        epoch: Row { table: "epochs", key: &"newest" }.optional_id("id", epoch.as_ref())?,
        filling: Row { table: "fillings", key: &"only" }.optional_id("id", filling.as_ref())?,
        is_unfinished,
    })
}

/// Guard: no epoch has this id. Begins a transaction, or a savepoint in that of a restore.
///
/// Among several writers, two who raise at once get two numbers: the second waits for the table, and sees what the first
/// wrote.
pub fn raise_epoch(db: &mut impl Database, command: &RaiseEpoch) -> Result<Epoch, SqlError> {
    let id = command.id.into();
    db.all_or_nothing(|db| {
        db.script(LOCK)?;
        if (StoreEpoch { id, raised_at: At(command.now) }).run(db)? == 1 {
            db.script(END)?;
            ExpireProposals { now: At(command.now) }.run(db)?;
            RevokeInvitations { now: At(command.now) }.run(db)?;
            record(db, command.event.as_deref())?;
        }
        Ok(read(FindEpoch { id }.one(db)?)?)
    })
}

type EpochRow = (i64, StoredId, StoredTime);
type LineageRow = (Option<StoredId>, Option<StoredId>, bool);

fn read((number, id, raised_at): EpochRow) -> Result<Epoch, SqlError> {
    let at = Row { table: "epochs", key: &id };
    Ok(Epoch {
        id: at.id("id", &id)?,
        number: u64::try_from(number).map_err(|_| at.impossible("number"))?,
        raised_at: at.time("raised_at", raised_at)?,
    })
}

/// The second waits for the first.
const LOCK: Script = Script { sqlite: "", postgres: "LOCK TABLE epochs IN SHARE ROW EXCLUSIVE MODE" };

/// Users come first, so that the triggers of grants find nothing to do, and access tokens before tokens for the same reason.
const END: Script = Script {
    sqlite: "\
        UPDATE users SET untold_since = NULL WHERE untold_since IS NOT NULL; \
        DELETE FROM access_tokens; \
        DELETE FROM tokens; \
        DELETE FROM grants; \
        DELETE FROM login_sessions; \
        DELETE FROM pushed_requests; \
        DELETE FROM device_requests; \
        UPDATE emails SET confirmation_hash = NULL, confirmation_expires_at = NULL WHERE confirmation_hash IS NOT NULL; \
        DELETE FROM leases; \
        DELETE FROM replicas",
    postgres: "\
        UPDATE users SET untold_since = NULL WHERE untold_since IS NOT NULL; \
        DELETE FROM tokens; \
        DELETE FROM grants; \
        DELETE FROM login_sessions; \
        DELETE FROM pushed_requests; \
        DELETE FROM device_requests; \
        UPDATE emails SET confirmation_hash = NULL, confirmation_expires_at = NULL WHERE confirmation_hash IS NOT NULL; \
        DELETE FROM leases; \
        DELETE FROM replicas",
};

statement! {
    pub NewestEpoch { above: i64 as BigInt } -> (BigInt, Key, Moment) = "\
        SELECT number, id, raised_at FROM epochs WHERE number > :above ORDER BY number DESC LIMIT 1"
}

statement! {
    pub ReadLineage { above: i64 as BigInt } -> (Nullable<Key>, Nullable<Key>, Bool) = "\
        SELECT (SELECT id FROM epochs WHERE number > :above ORDER BY number DESC LIMIT 1), (SELECT id FROM fillings LIMIT 1), \
          EXISTS (SELECT 1 FROM unfinished)"
}

statement! {
    pub FindEpoch { id: Id as Key } -> (BigInt, Key, Moment) = "\
        SELECT number, id, raised_at FROM epochs WHERE id = :id"
}

statement! {
    /// One row if the id is free, none otherwise.
    pub StoreEpoch { id: Id as Key, raised_at: At as Moment },
    sqlite = "\
        INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE((SELECT max(number) FROM epochs), 0) + 1, :id, :raised_at WHERE true \
        ON CONFLICT (id) DO NOTHING",
    postgres = "\
        INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE((SELECT max(number) FROM epochs), 0) + 1, :id, :raised_at \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    pub RevokeInvitations { now: At as Moment } = "UPDATE invitations SET revoked_at = :now WHERE revoked_at IS NULL"
}

statement! {
    pub ExpireProposals { now: At as Moment } = "\
        UPDATE proposals SET expires_at = :now WHERE state IN ('waiting', 'taken') AND expires_at > :now"
}
