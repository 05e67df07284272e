//! A user unlinks a wallet, and everything that was granted with it is revoked.

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_ports::{UnlinkWallet, WalletUnlinked};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::read_blocks::are_blocked;
use super::record_event::record_about;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::{lock_user_of, spend};
use crate::error::OpResult;
use crate::statement::statement;

/// Whatever the outcome for the wallets, the challenge was judged and stays spent (F-17). Only if it was
/// spent before is everything rolled back.
pub(crate) fn unlink_wallet(
    connection: &mut PgConnection,
    command: &UnlinkWallet,
) -> OpResult<WalletUnlinked> {
    let (family, address) = (&*command.wallet.family, &*command.wallet.address);
    all_or_nothing(connection, |connection| {
        if !spend(connection, command.id, command.forget_after)? {
            return Err(Undone::Refused(WalletUnlinked::ChallengeSpent));
        }
        let Some(user) = lock_user_of(connection, &command.signer, command.begun_at)? else {
            return Ok(WalletUnlinked::SignerUnknown);
        };
        let (is_user_blocked, is_wallet_blocked) =
            are_blocked(connection, user, &command.signer, &command.wallet)?;
        if is_user_blocked {
            return Ok(WalletUnlinked::Blocked);
        }
        let (wallets, is_theirs): (i64, bool) = Holdings { user, family, address }.get_result(connection)?;
        if !is_theirs {
            return Ok(WalletUnlinked::NotTheirs);
        }
        if is_wallet_blocked {
            return Ok(WalletUnlinked::Blocked);
        }
        if wallets == 1 {
            return Ok(WalletUnlinked::LastWallet);
        }
        DeleteWallet { family, address }.execute(connection)?;
        DeleteSessions { user, family, address }.execute(connection)?;
        // A statement of its own: it sees the grants of the logins and sessions that the ones before waited
        // for.
        let reason = RevocationReason::WalletUnlinked.name();
        EndGrants { user, family, address, now: command.now, reason }.execute(connection)?;
        let user = UserId::from_uuid(user);
        record_about(connection, command.event.as_deref(), user)?;
        Ok(WalletUnlinked::Unlinked { user })
    })
}

statement! {
    /// How many wallets the user has, and whether this is one of them.
    Holdings<'a> {
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (BigInt, Bool) = "\
        SELECT count(*), COALESCE(bool_or(family = :family AND address = :address), false) \
        FROM wallets WHERE user_id = :user"
}

statement! {
    /// Waits for current logins with the wallet and makes later ones wait: each login locks it.
    DeleteWallet<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    /// Waits for operations that continue one of these sessions.
    DeleteSessions<'a> {
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        address: &'a str as Text,
    } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM login_sessions WHERE user_id = :user AND family = :family AND address = :address \
          ORDER BY id FOR UPDATE \
        ) \
        DELETE FROM login_sessions USING theirs WHERE login_sessions.id = theirs.id"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        address: &'a str as Text,
        now: OffsetDateTime as Timestamptz,
        reason: &'static str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND family = :family AND address = :address AND revoked_at IS NULL"
}
