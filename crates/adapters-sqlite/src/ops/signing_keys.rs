//! A new signing key.

use countersign_ports::{AddSigningKey, KeyAdded};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::rows::signing_key::SigningKeyRow;
use crate::schema::signing_keys;

/// Guard: no key for the algorithm is there.
pub(crate) fn add_signing_key(
    connection: &mut SqliteConnection,
    command: &AddSigningKey,
) -> Result<KeyAdded, SqliteError> {
    let present: Option<String> = signing_keys::table
        .filter(signing_keys::algorithm.eq(&command.key.algorithm))
        .select(signing_keys::kid)
        .get_result(connection)
        .optional()?;
    match present {
        Some(kid) if kid == command.key.kid => Ok(KeyAdded::Stored),
        Some(_) => Ok(KeyAdded::AlgorithmTaken),
        None => {
            diesel::insert_into(signing_keys::table)
                .values(SigningKeyRow::from(command.key.clone()))
                .execute(connection)?;
            Ok(KeyAdded::Stored)
        }
    }
}
