//! A user unlinks a wallet, and everything that was granted with it is revoked.

use countersign_domain::grant::RevocationReason;
use countersign_ports::{UnlinkWallet, WalletUnlinked};

use super::wallets::{are_blocked, count_of, find_owner, lock_user_of, spend};
use crate::columns::{At, Id, Key, Moment, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record_about;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guards: the challenge is not spent, the signer has a user, none of them is blocked, the wallet is theirs and
/// not their last. Whatever the outcome for the wallets, the challenge was judged and stays spent (F-17). Only if it was
/// spent before is everything rolled back.
pub fn unlink_wallet(db: &mut impl Database, command: &UnlinkWallet) -> Result<WalletUnlinked, SqlError> {
    let (family, address) = (&*command.wallet.family, &*command.wallet.address);
    db.all_or_nothing(|db| {
        if !spend(db, command.id, command.forget_after)? {
            return Err(Undone::Refused(WalletUnlinked::ChallengeSpent));
        }
        let Some(owner) = lock_user_of(db, &command.signer, command.begun_at)? else {
            return Ok(WalletUnlinked::SignerUnknown);
        };
        let (is_user_blocked, is_wallet_blocked) = are_blocked(db, owner, &command.signer, &command.wallet)?;
        if is_user_blocked {
            return Ok(WalletUnlinked::Blocked);
        }
        if find_owner(db, &command.wallet)? != Some(owner) {
            return Ok(WalletUnlinked::NotTheirs);
        }
        if is_wallet_blocked {
            return Ok(WalletUnlinked::Blocked);
        }
        if count_of(db, owner)? == 1 {
            return Ok(WalletUnlinked::LastWallet);
        }
        let user = Id::from(owner);
        DeleteWallet { family, address }.run(db)?;
        KeepUser { user }.run(db)?;
        DeleteSessions { user, family, address }.run(db)?;
        // A statement of its own: it sees the grants of the logins and sessions that the ones before waited
        // for.
        let reason = RevocationReason::WalletUnlinked.name();
        EndGrants { user, family, address, now: At(command.now), reason }.run(db)?;
        record_about(db, command.event.as_deref(), owner)?;
        Ok(WalletUnlinked::Unlinked { user: owner })
    })
}

statement! {
    /// Waits for current logins with the wallet and makes later ones wait: each login locks it.
    DeleteWallet<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    /// The event of what was unlinked leads to this user, who is not forgotten as unused from now on.
    KeepUser { user: Id as Key } = "\
        UPDATE users SET untold_since = NULL WHERE id = :user AND untold_since IS NOT NULL"
}

statement! {
    /// Waits for operations that continue one of these sessions.
    DeleteSessions<'a> { user: Id as Key, family: &'a str as Text, address: &'a str as Text },
    sqlite = "DELETE FROM login_sessions WHERE user_id = :user AND family = :family AND address = :address",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM login_sessions WHERE user_id = :user AND family = :family AND address = :address \
          ORDER BY id FOR UPDATE \
        ) \
        DELETE FROM login_sessions USING theirs WHERE login_sessions.id = theirs.id"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        user: Id as Key,
        family: &'a str as Text,
        address: &'a str as Text,
        now: At as Moment,
        reason: &'a str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND family = :family AND address = :address AND revoked_at IS NULL"
}
