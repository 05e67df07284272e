//! Signing keys are added, withdrawn and removed.

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded, RemoveSigningKey, WithdrawSigningKey};
use diesel::prelude::*;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::rows::signing_key::SigningKeyRow;
use crate::schema::signing_keys;

/// Guard: no key of the algorithm that is not withdrawn becomes active later than the command says.
pub(crate) fn add_signing_key(
    connection: &mut SqliteConnection,
    command: &AddSigningKey,
) -> Result<KeyAdded, SqliteError> {
    let AddSigningKey { key, unless_after, event } = command;
    let is_there: i64 = signing_keys::table.find(&key.kid).count().get_result(connection)?;
    if is_there == 1 {
        return Ok(KeyAdded::Stored);
    }
    let later: i64 = signing_keys::table
        .filter(signing_keys::algorithm.eq(&key.algorithm))
        .filter(signing_keys::withdrawn_at.is_null())
        .filter(signing_keys::active_from.gt(micros(*unless_after)))
        .count()
        .get_result(connection)?;
    if later > 0 {
        return Ok(KeyAdded::NotNeeded);
    }
    diesel::insert_into(signing_keys::table).values(SigningKeyRow::from(key.clone())).execute(connection)?;
    record(connection, event.as_deref())?;
    Ok(KeyAdded::Stored)
}

/// Returns whether the key existed and was not withdrawn before.
pub(crate) fn withdraw_signing_key(
    connection: &mut SqliteConnection,
    command: &WithdrawSigningKey,
) -> Result<bool, SqliteError> {
    let good = signing_keys::table.find(&command.kid).filter(signing_keys::withdrawn_at.is_null());
    let withdrawn = diesel::update(good).set(signing_keys::withdrawn_at.eq(micros(command.now)));
    if withdrawn.execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

/// Returns whether the key existed.
pub(crate) fn remove_signing_key(
    connection: &mut SqliteConnection,
    command: &RemoveSigningKey,
) -> Result<bool, SqliteError> {
    if diesel::delete(signing_keys::table.find(&command.kid)).execute(connection)? == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

/// All keys, the oldest first.
pub(crate) fn signing_keys(connection: &mut SqliteConnection) -> Result<Vec<SealedKey>, SqliteError> {
    let rows = signing_keys::table
        .order((signing_keys::created_at, signing_keys::kid))
        .select(SigningKeyRow::as_select())
        .load(connection)?;
    rows.into_iter().map(SealedKey::try_from).collect()
}
