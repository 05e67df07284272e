//! A user takes a client's access away.

use countersign_domain::grant::RevocationReason;
use countersign_ports::RevokeConsent;

use super::wallets::lock_user;
use crate::columns::{At, Id, Key, Moment, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record_about;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Grants are revoked whether or not there is a consent: the oldest ones have none, because consents were not
/// stored yet.
pub fn revoke_consent<D: Database>(db: &mut D, command: &RevokeConsent) -> Result<bool, SqlError> {
    let (user, client, now) = (Id::from(command.user), Id::from(command.client), At(command.now));
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            // A user who does not exist has nothing, so the rest finds nothing.
            lock_user(db, command.user)?;
            HoldWallets { user }.run(db)?;
        }
        // Statements of their own: they see the consents and grants of the logins that the first one waited
        // for.
        let deleted = DeleteConsents { user, client }.run(db)?;
        DeleteOfEarlierRelease { user, client }.run(db)?;
        let reason = RevocationReason::ConsentRevoked.name();
        EndGrants { user, client, now, reason }.run(db)?;
        if deleted > 0 {
            record_about(db, command.event.as_deref(), command.user)?;
        }
        Ok(deleted > 0)
    })
}

statement! {
    /// Waits for current logins with the user's wallets and makes later ones wait: each login locks its
    /// wallet. A first login under new terms has no consent yet that could be locked. It comes either
    /// completely before, and then its consent is deleted and its grant revoked, or completely after, and
    /// then it is a new agreement.
    HoldWallets { user: Id as Key },
    sqlite = "SELECT 1",
    postgres = "SELECT FROM wallets WHERE user_id = :user ORDER BY family, address FOR UPDATE"
}

statement! {
    /// Waits for sessions that are being continued.
    DeleteConsents { user: Id as Key, client: Id as Key },
    sqlite = "DELETE FROM signed_consents WHERE user_id = :user AND client_id = :client",
    postgres = "\
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
    DeleteOfEarlierRelease { user: Id as Key, client: Id as Key } = "\
        DELETE FROM consents WHERE user_id = :user AND client_id = :client"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones. The plus keeps SQLite from using the
    /// index `grants_by_client`: a client may have millions of grants.
    EndGrants { user: Id as Key, client: Id as Key, now: At as Moment, reason: &'static str as Text },
    sqlite = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND +client_id = :client AND revoked_at IS NULL",
    postgres = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND client_id = :client AND revoked_at IS NULL"
}
