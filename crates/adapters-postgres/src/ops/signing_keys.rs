//! Signing keys are added, withdrawn and removed.

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded, RemoveSigningKey, WithdrawSigningKey};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text, Timestamptz};
use time::OffsetDateTime;

use super::record_event::record;
use super::transaction::{act_and_record, all_or_nothing};
use crate::error::OpResult;
use crate::rows::signing_key::SigningKeyRow;
use crate::schema::signing_keys;
use crate::statement::statement;

pub(crate) fn add_signing_key(connection: &mut PgConnection, command: &AddSigningKey) -> OpResult<KeyAdded> {
    let AddSigningKey { key, unless_after, event } = command;
    let insert = InsertKey {
        kid: &key.kid,
        algorithm: &key.algorithm,
        sealed: &key.sealed,
        created_at: key.created_at,
        active_from: key.active_from,
        unless_after: *unless_after,
    };
    all_or_nothing(connection, |connection| {
        WaitForTurn { algorithm: &key.algorithm }.execute(connection)?;
        // A statement of its own: it sees the key of the operation that had the lock before.
        if insert.execute(connection)? == 1 {
            record(connection, event.as_deref())?;
            return Ok(KeyAdded::Stored);
        }
        let present: i64 = signing_keys::table.find(&key.kid).count().get_result(connection)?;
        Ok(if present == 1 { KeyAdded::Stored } else { KeyAdded::NotNeeded })
    })
}

pub(crate) fn withdraw_signing_key(
    connection: &mut PgConnection,
    command: &WithdrawSigningKey,
) -> OpResult<bool> {
    let WithdrawSigningKey { kid, now, event } = command;
    act_and_record(
        connection,
        event.as_deref(),
        |is_withdrawn| *is_withdrawn,
        |connection| Ok(WithdrawKey { kid, now: *now }.execute(connection)? == 1),
    )
}

pub(crate) fn remove_signing_key(
    connection: &mut PgConnection,
    command: &RemoveSigningKey,
) -> OpResult<bool> {
    act_and_record(
        connection,
        command.event.as_deref(),
        |was_there| *was_there,
        |connection| Ok(diesel::delete(signing_keys::table.find(&command.kid)).execute(connection)? == 1),
    )
}

pub(crate) fn signing_keys(connection: &mut PgConnection) -> OpResult<Vec<SealedKey>> {
    let rows: Vec<SigningKeyRow> = signing_keys::table
        .order((signing_keys::created_at, signing_keys::kid))
        .select(SigningKeyRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(SealedKey::from).collect())
}

statement! {
    /// Waits until nobody else adds a key of this algorithm: a row that does not exist yet cannot be locked.
    /// The first number spells "keys", so that no other lock is the same.
    WaitForTurn<'a> { algorithm: &'a str as Text } = "\
        SELECT pg_advisory_xact_lock(1801812339, hashtext(:algorithm))"
}

statement! {
    /// One row if the key was stored, none if it existed before or is not needed.
    InsertKey<'a> {
        kid: &'a str as Text,
        algorithm: &'a str as Text,
        sealed: &'a [u8] as Binary,
        created_at: OffsetDateTime as Timestamptz,
        active_from: OffsetDateTime as Timestamptz,
        unless_after: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO signing_keys (kid, algorithm, sealed, created_at, active_from) \
        SELECT :kid, :algorithm, :sealed, :created_at, :active_from WHERE NOT EXISTS ( \
          SELECT FROM signing_keys \
          WHERE algorithm = :algorithm AND withdrawn_at IS NULL AND active_from > :unless_after \
        ) ON CONFLICT (kid) DO NOTHING"
}

statement! {
    /// One row if the key existed and was not withdrawn, none otherwise.
    WithdrawKey<'a> { kid: &'a str as Text, now: OffsetDateTime as Timestamptz } = "\
        UPDATE signing_keys SET withdrawn_at = :now WHERE kid = :kid AND withdrawn_at IS NULL"
}
