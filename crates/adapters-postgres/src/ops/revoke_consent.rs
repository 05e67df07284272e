//! A client loses what a user agreed to, and everything that was granted for it.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::wallets::{all_or_nothing, lock_user};
use crate::error::OpResult;
use crate::statement::statement;

statement! {
    /// Waits for logins of this user at this client that are under way, and keeps later ones waiting: each writes the consent.
    ///
    /// Where there is no consent, a row that nobody will see takes its place, for the sake of a first login at the same time:
    /// it comes wholly before, and its consent goes with its grant, or wholly after, and is a new agreement.
    HoldConsent { user: Uuid as SqlUuid, client: Uuid as SqlUuid, now: OffsetDateTime as Timestamptz } = "\
        INSERT INTO consents (user_id, client_id, scopes, granted_at, last_used_at) \
        VALUES (:user, :client, -1, :now, :now) \
        ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = consents.scopes"
}

statement! {
    /// Gives whether it was a consent, and not the row in the place of one.
    DeleteConsent { user: Uuid as SqlUuid, client: Uuid as SqlUuid } -> (Bool) = "\
        DELETE FROM consents WHERE user_id = :user AND client_id = :client RETURNING scopes >= 0"
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
        HoldConsent { user, client, now }.execute(connection)?;
        let (was_there,): (bool,) = DeleteConsent { user, client }.get_result(connection)?;
        // A statement of its own: it sees the grants of the logins that the first waited for.
        let reason = RevocationReason::ConsentRevoked.name();
        KillGrants { user, client, now, reason }.execute(connection)?;
        Ok(was_there)
    })
}
