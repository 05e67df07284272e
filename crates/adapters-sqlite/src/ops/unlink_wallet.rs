//! A user unlinks a wallet, and everything that was granted with it is revoked.

use countersign_domain::grant::RevocationReason;
use countersign_ports::{UnlinkWallet, WalletUnlinked};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use super::read_blocks::are_blocked;
use super::record_event::record_about;
use super::{sessions, wallets};
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::schema;
use crate::statement::statement;

/// Guards: the challenge is not spent, the signer has a user, none of them is blocked, the wallet is theirs and
/// not their last. The
/// challenge is spent before the rest is judged. A refusal does not roll back, so it stays spent (F-17). The
/// single writer keeps the guards true until the commit.
pub(crate) fn unlink_wallet(
    connection: &mut SqliteConnection,
    command: &UnlinkWallet,
) -> Result<WalletUnlinked, SqliteError> {
    if wallets::is_spent(connection, command.id)? {
        return Ok(WalletUnlinked::ChallengeSpent);
    }
    wallets::spend(connection, command.id, command.forget_after)?;
    let Some(user_id) = wallets::owner_since(connection, &command.signer, command.begun_at)? else {
        return Ok(WalletUnlinked::SignerUnknown);
    };
    let at = Row { table: "wallets", key: command.signer.address.as_bytes() };
    let user = at.id("user_id", &user_id)?;
    let (is_user_blocked, is_wallet_blocked) =
        are_blocked(connection, &user_id, &command.signer, &command.wallet)?;
    if is_user_blocked {
        return Ok(WalletUnlinked::Blocked);
    }
    if wallets::owner_of(connection, &command.wallet)?.as_ref() != Some(&user_id) {
        return Ok(WalletUnlinked::NotTheirs);
    }
    if is_wallet_blocked {
        return Ok(WalletUnlinked::Blocked);
    }
    let theirs = schema::wallets::table.filter(schema::wallets::user_id.eq(&user_id));
    let count: i64 = theirs.count().get_result(connection)?;
    if count == 1 {
        return Ok(WalletUnlinked::LastWallet);
    }
    let (family, address) = (&command.wallet.family, &command.wallet.address);
    DeleteWallet { family, address }.execute(connection)?;
    let end = EndGrants {
        revoked_at: micros(command.now),
        revocation_reason: RevocationReason::WalletUnlinked.name(),
        user_id: &user_id,
        family,
        address,
    };
    end.execute(connection)?;
    sessions::end_of_wallet(connection, &user_id, &command.wallet)?;
    record_about(connection, command.event.as_deref(), user)?;
    Ok(WalletUnlinked::Unlinked { user })
}

statement! {
    DeleteWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
    } = "DELETE FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        revoked_at: i64 as BigInt,
        revocation_reason: &'a str as Text,
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        address: &'a str as Text,
    } = "\
        UPDATE grants SET revoked_at = :revoked_at, revocation_reason = :revocation_reason \
        WHERE user_id = :user_id AND family = :family AND address = :address AND revoked_at IS NULL"
}
