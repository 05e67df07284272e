//! A user takes a client's access away.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;

/// Grants are revoked whether or not there is a consent: those from before consents were kept have none.
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
    Ok(deleted > 0)
}

statement! {
    /// The plus keeps SQLite from the index `grants_by_client`: a client may have millions of grants, of which
    /// `grants_by_user` finds the user's few.
    struct EndGrants<'a> {
        revoked_at: i64 as BigInt,
        revocation_reason: &'a str as Text,
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    }
    "UPDATE grants SET revoked_at = ?, revocation_reason = ? \
     WHERE user_id = ? AND +client_id = ? AND revoked_at IS NULL"
}

statement! {
    struct DeleteConsents<'a> {
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    }
    "DELETE FROM signed_consents WHERE user_id = ? AND client_id = ?"
}

statement! {
    /// The release before this one would go on by it.
    struct DeleteOfEarlierRelease<'a> {
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
    }
    "DELETE FROM consents WHERE user_id = ? AND client_id = ?"
}
