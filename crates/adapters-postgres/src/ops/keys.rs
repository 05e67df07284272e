//! Signing keys.

use countersign_domain::signing_key::SealedKey;
use countersign_ports::{AddSigningKey, KeyAdded};
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::schema::signing_keys;

pub(crate) fn add_signing_key(connection: &mut PgConnection, command: &AddSigningKey) -> OpResult<KeyAdded> {
    let key = &command.key;
    let stored = diesel::insert_into(signing_keys::table)
        .values((
            signing_keys::kid.eq(&key.kid),
            signing_keys::algorithm.eq(&key.algorithm),
            signing_keys::sealed.eq(&key.sealed),
            signing_keys::created_at.eq(key.created_at),
        ))
        .on_conflict(signing_keys::algorithm)
        .do_nothing()
        .execute(connection)?;
    if stored == 1 {
        return Ok(KeyAdded::Stored);
    }
    let present: Option<String> = signing_keys::table
        .filter(signing_keys::algorithm.eq(&key.algorithm))
        .select(signing_keys::kid)
        .first(connection)
        .optional()?;
    let is_this_key = present.is_some_and(|kid| kid == key.kid);
    Ok(if is_this_key { KeyAdded::Stored } else { KeyAdded::AlgorithmTaken })
}

pub(crate) fn signing_keys(connection: &mut PgConnection) -> OpResult<Vec<SealedKey>> {
    let rows: Vec<(String, String, Vec<u8>, OffsetDateTime)> =
        signing_keys::table.order((signing_keys::created_at, signing_keys::kid)).load(connection)?;
    let keys = rows.into_iter();
    Ok(keys
        .map(|(kid, algorithm, sealed, created_at)| SealedKey { kid, algorithm, sealed, created_at })
        .collect())
}
