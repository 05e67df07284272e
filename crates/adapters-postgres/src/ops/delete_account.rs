//! A user is deleted, with everything that belongs to them.

use countersign_domain::grant::RevocationReason;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{DeleteAccount, EndSessions};
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::end_session::end_sessions;
use super::forget_person::forget_person;
use super::proposals::{forget_proposals_of, fulfil};
use super::record_event::record;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::lock_user;
use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn delete_account(connection: &mut PgConnection, command: &DeleteAccount) -> OpResult<bool> {
    let DeleteAccount { user, now, pseudonym, ref event } = *command;
    all_or_nothing(connection, |connection| {
        if !lock_user(connection, user)? {
            forget_proposals_of(connection, user)?;
            forget_person(connection, user, pseudonym)?;
            return Ok(false);
        }
        let id = user.as_uuid();
        // Each is a statement of its own, so that it sees what the operations wrote for which the ones before
        // it waited.
        DeleteMemberships { user: id }.execute(connection)?;
        DeleteWallets { user: id, ethereum: chain_of_old_wallet("eip155") }.execute(connection)?;
        DeleteConsents { user: id }.execute(connection)?;
        DeleteOfEarlierRelease { user: id }.execute(connection)?;
        end_sessions(connection, &EndSessions { user, event: None }).map_err(Undone::Failed)?;
        let reason = RevocationReason::AccountDeleted.name();
        EndGrants { user: id, now, reason }.execute(connection)?;
        // The user may be one of the two who signed this.
        fulfil(connection, event.as_deref().and_then(|event| event.signed.as_ref()))?;
        forget_proposals_of(connection, user)?;
        DeleteUser { user: id }.execute(connection)?;
        let events = forget_person(connection, user, pseudonym)?;
        if let Some(event) = event {
            let mut event = event.clone().forgetting(pseudonym);
            event.details = event.details.number("events", events);
            record(connection, Some(&event))?;
        }
        Ok(true)
    })
}

statement! {
    /// In the order of their keys, because groups may be deleted at the same time.
    DeleteMemberships { user: Uuid as SqlUuid } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT group_name FROM group_users WHERE user_id = :user ORDER BY group_name FOR UPDATE \
        ) \
        DELETE FROM group_users USING theirs \
        WHERE user_id = :user AND group_users.group_name = theirs.group_name"
}

statement! {
    /// Waits for current logins with the wallets and makes later ones wait: each login locks its wallet. The
    /// wallets of a blocked user are blocked from now on. Where a chain is missing, it is that of an old
    /// wallet.
    DeleteWallets { user: Uuid as SqlUuid, ethereum: String as Text } = "\
        WITH gone AS (DELETE FROM wallets WHERE user_id = :user RETURNING family, address, chain) \
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        SELECT family, address, COALESCE(chain, CASE family WHEN 'eip155' THEN :ethereum ELSE family END), \
          blocked_at, reason \
        FROM gone CROSS JOIN blocked_users WHERE user_id = :user \
        ORDER BY family COLLATE \"C\", address COLLATE \"C\" \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// Waits for sessions that are being continued.
    DeleteConsents { user: Uuid as SqlUuid } = "\
        WITH given AS MATERIALIZED ( \
          SELECT client_id, destination, audiences FROM signed_consents WHERE user_id = :user \
          ORDER BY client_id, destination, audiences FOR UPDATE \
        ) \
        DELETE FROM signed_consents USING given \
        WHERE user_id = :user AND signed_consents.client_id = given.client_id \
          AND signed_consents.destination = given.destination AND signed_consents.audiences = given.audiences"
}

statement! {
    /// The same in the table of the previous release.
    DeleteOfEarlierRelease { user: Uuid as SqlUuid } = "DELETE FROM consents WHERE user_id = :user"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones. They stay, as spent
    /// challenges, and no longer name a wallet.
    EndGrants<'a> {
        user: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        reason: &'a str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason, family = '', chain = '', address = '', \
          nonce = NULL \
        WHERE user_id = :user AND revoked_at IS NULL"
}

statement! {
    DeleteUser { user: Uuid as SqlUuid } = "\
        WITH gone AS (DELETE FROM emails WHERE user_id = :user) \
        DELETE FROM users WHERE id = :user"
}
