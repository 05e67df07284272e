//! Signing keys are added, withdrawn and removed.

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded, RemoveSigningKey, WithdrawSigningKey};

use crate::columns::{At, Binary, Bool, Moment, Nullable, Text};
use crate::database::Statement;
use crate::ops::events::record_event::{act_and_record, record};
use crate::rows::signing_key::{SigningKeyRow, SigningKeySql};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn add_signing_key<D: Database>(db: &mut D, command: &AddSigningKey) -> Result<KeyAdded, SqlError> {
    let AddSigningKey { key, unless_after, event } = command;
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            WaitForKeyTurn { algorithm: &key.algorithm }.run(db)?;
        }
        let insert = InsertKey {
            kid: &key.kid,
            algorithm: &key.algorithm,
            sealed: &key.sealed,
            created_at: At(key.created_at),
            active_from: At(key.active_from),
            withdrawn_at: key.withdrawn_at.map(At),
            unless_after: At(*unless_after),
        };
        // A statement of its own: it sees the key of the operation that had the lock before.
        if insert.run(db)? == 1 {
            record(db, event.as_deref())?;
            return Ok(KeyAdded::Stored);
        }
        let is_there = IsKeyThere { kid: &key.kid }.one(db)?;
        Ok(if is_there { KeyAdded::Stored } else { KeyAdded::NotNeeded })
    })
}

pub fn withdraw_signing_key(db: &mut impl Database, command: &WithdrawSigningKey) -> Result<bool, SqlError> {
    let WithdrawSigningKey { kid, now, event } = command;
    act_and_record(db, event.as_deref(), |db| Ok(WithdrawKey { kid, now: At(*now) }.run(db)? == 1))
}

pub fn remove_signing_key(db: &mut impl Database, command: &RemoveSigningKey) -> Result<bool, SqlError> {
    act_and_record(db, command.event.as_deref(), |db| Ok(RemoveKey { kid: &command.kid }.run(db)? == 1))
}

/// All keys, the oldest first.
pub fn signing_keys(db: &mut impl Database) -> Result<Vec<SealedKey>, SqlError> {
    let rows: Vec<SigningKeyRow> = ListSigningKeys {}.all(db)?;
    rows.into_iter().map(SealedKey::try_from).collect()
}

statement! {
    /// Waits until no one else adds a key of this algorithm: a row that does not exist yet cannot be locked.
    /// One writer has its turn. The first number spells "keys", so that no other lock is the same.
    pub WaitForKeyTurn<'a> { algorithm: &'a str as Text },
    sqlite = "SELECT :algorithm",
    postgres = "SELECT pg_advisory_xact_lock(1801812339, hashtext(:algorithm))"
}

statement! {
    /// One row if the key was stored, none if it existed before or is not needed.
    pub InsertKey<'a> {
        kid: &'a str as Text,
        algorithm: &'a str as Text,
        sealed: &'a [u8] as Binary,
        created_at: At as Moment,
        active_from: At as Moment,
        withdrawn_at: Option<At> as Nullable<Moment>,
        unless_after: At as Moment,
    } = "\
        INSERT INTO signing_keys (kid, algorithm, sealed, created_at, active_from, withdrawn_at) \
        SELECT :kid, :algorithm, :sealed, :created_at, :active_from, :withdrawn_at WHERE NOT EXISTS ( \
          SELECT 1 FROM signing_keys \
          WHERE algorithm = :algorithm AND withdrawn_at IS NULL AND active_from > :unless_after \
        ) ON CONFLICT (kid) DO NOTHING"
}

statement! {
    /// One row if the key existed and was not withdrawn, none otherwise.
    pub WithdrawKey<'a> { kid: &'a str as Text, now: At as Moment } = "\
        UPDATE signing_keys SET withdrawn_at = :now WHERE kid = :kid AND withdrawn_at IS NULL"
}

statement! {
    pub IsKeyThere<'a> { kid: &'a str as Text } -> Bool = "SELECT EXISTS (SELECT 1 FROM signing_keys WHERE kid = :kid)"
}

statement! {
    pub RemoveKey<'a> { kid: &'a str as Text } = "DELETE FROM signing_keys WHERE kid = :kid"
}

statement! {
    pub ListSigningKeys {} -> SigningKeySql = "\
        SELECT kid, algorithm, sealed, created_at, active_from, withdrawn_at FROM signing_keys \
        ORDER BY created_at, kid"
}
