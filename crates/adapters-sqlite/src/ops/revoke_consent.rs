//! A user takes a client's access away.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use super::record_event::record_about;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Grants are revoked whether or not there is a consent: the oldest ones have none, because consents were not
/// stored yet.
pub(crate) fn revoke_consent(
    connection: &mut SqliteConnection,
    command: &RevokeConsent,
) -> Result<bool, SqliteError> {
    let (user, client) = (command.user.as_uuid(), command.client.as_uuid());
    let (user_id, client_id) = (user.as_bytes().as_slice(), client.as_bytes().as_slice());
    let end = EndGrants {
        revoked_at: micros(command.now),
        revocation_reason: RevocationReason::ConsentRevoked.name(),
        user_id,
        client_id,
    };
    end.execute(connection)?;
    let deleted = DeleteConsents { user_id, client_id }.execute(connection)?;
    DeleteOfEarlierRelease { user_id, client_id }.execute(connection)?;
    if deleted == 0 {
        return Ok(false);
    }
    record_about(connection, command.event.as_deref(), command.user)?;
    Ok(true)
}

statement! {
    /// The plus keeps SQLite from using the index `grants_by_client`. A client may have millions of grants;
    /// `grants_by_user` finds the few of this user.
    EndGrants<'a> {
        revoked_at: i64 as BigInt,
        revocation_reason: &'a str as Text,
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    } = "\
        UPDATE grants SET revoked_at = :revoked_at, revocation_reason = :revocation_reason \
        WHERE user_id = :user_id AND +client_id = :client_id AND revoked_at IS NULL"
}

statement! {
    DeleteConsents<'a> {
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    } = "DELETE FROM signed_consents WHERE user_id = :user_id AND client_id = :client_id"
}

statement! {
    /// The previous release would still rely on it.
    DeleteOfEarlierRelease<'a> {
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    } = "DELETE FROM consents WHERE user_id = :user_id AND client_id = :client_id"
}
