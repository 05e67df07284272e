//! A client loses what a user agreed to, and everything that was granted for it.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::wallets::{all_or_nothing, lock_user};
use crate::error::OpResult;
use crate::statement::statement;

statement! {
    /// Waits for logins of the user's wallets that are under way, and keeps later ones waiting: each holds its wallet's key. A first
    /// login at new terms has no consent yet that could be held: it comes wholly before, and its consent goes with its grant, or
    /// wholly after, and is a new agreement.
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
    /// The release before this one would go on by it.
    DeleteOfEarlierRelease { user: Uuid as SqlUuid, client: Uuid as SqlUuid } = "\
        DELETE FROM consents WHERE user_id = :user AND client_id = :client"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has those that live.
    KillGrants {
        user: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        reason: &'static str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND client_id = :client AND revoked_at IS NULL"
}

pub(crate) fn revoke_consent(connection: &mut PgConnection, command: &RevokeConsent) -> OpResult<bool> {
    let (user, client, now) = (command.user.as_uuid(), command.client.as_uuid(), command.now);
    all_or_nothing(connection, |connection| {
        // A user who is not there has nothing, and then the rest finds nothing.
        lock_user(connection, command.user)?;
        HoldWallets { user }.execute(connection)?;
        // Statements of their own: they see the consents and grants of the logins that the first waited for.
        let deleted = DeleteConsents { user, client }.execute(connection)?;
        DeleteOfEarlierRelease { user, client }.execute(connection)?;
        let reason = RevocationReason::ConsentRevoked.name();
        KillGrants { user, client, now, reason }.execute(connection)?;
        Ok(deleted > 0)
    })
}
