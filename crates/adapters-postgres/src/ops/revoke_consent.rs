//! A user takes a client's access away.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record_about;
use super::transaction::all_or_nothing;
use super::wallets::lock_user;
use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn revoke_consent(connection: &mut PgConnection, command: &RevokeConsent) -> OpResult<bool> {
    let (user, client, now) = (command.user.as_uuid(), command.client.as_uuid(), command.now);
    all_or_nothing(connection, |connection| {
        // A user who does not exist has nothing, so the rest finds nothing.
        lock_user(connection, command.user)?;
        HoldWallets { user }.execute(connection)?;
        // Statements of their own: they see the consents and grants of the logins that the first one waited
        // for.
        let deleted = DeleteConsents { user, client }.execute(connection)?;
        DeleteOfEarlierRelease { user, client }.execute(connection)?;
        let reason = RevocationReason::ConsentRevoked.name();
        EndGrants { user, client, now, reason }.execute(connection)?;
        if deleted > 0 {
            record_about(connection, command.event.as_deref(), command.user)?;
        }
        Ok(deleted > 0)
    })
}

statement! {
    /// Waits for current logins with the user's wallets and makes later ones wait: each login locks its
    /// wallet. A first login under new terms has no consent yet that could be locked. It comes either
    /// completely before, and then its consent is deleted and its grant revoked, or completely after, and
    /// then it is a new agreement.
    HoldWallets { user: Uuid as SqlUuid } = "\
        SELECT FROM wallets WHERE user_id = :user ORDER BY family, address FOR UPDATE"
}

statement! {
    /// Waits for sessions that are being continued.
    DeleteConsents { user: Uuid as SqlUuid, client: Uuid as SqlUuid } = "\
        WITH given AS MATERIALIZED ( \
          SELECT destination, audiences FROM signed_consents WHERE user_id = :user AND client_id = :client \
          ORDER BY destination, audiences FOR UPDATE \
        ) \
        DELETE FROM signed_consents USING given \
        WHERE user_id = :user AND client_id = :client AND signed_consents.destination = given.destination \
          AND signed_consents.audiences = given.audiences"
}

statement! {
    /// The previous release would still rely on it.
    DeleteOfEarlierRelease { user: Uuid as SqlUuid, client: Uuid as SqlUuid } = "\
        DELETE FROM consents WHERE user_id = :user AND client_id = :client"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants {
        user: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        reason: &'static str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND client_id = :client AND revoked_at IS NULL"
}
