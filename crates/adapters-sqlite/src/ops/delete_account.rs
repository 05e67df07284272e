//! A user is deleted, with everything that belongs to them.

use countersign_domain::grant::RevocationReason;
use countersign_ports::DeleteAccount;
use diesel::prelude::*;

use super::remove_email::{RemoveEmail, remove_email};
use super::sessions;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{consents, grants, signed_consents, users, wallets};

/// Live grants are found by the index `grants_by_user`. They stay, as spent challenges, and no longer name a
/// wallet.
pub(crate) fn delete_account(
    connection: &mut SqliteConnection,
    command: &DeleteAccount,
) -> Result<bool, SqliteError> {
    let user = command.user.as_uuid();
    let id = user.as_bytes().as_slice();
    let live = grants::table.filter(grants::user_id.eq(id)).filter(grants::revoked_at.is_null());
    let ended = (
        grants::revoked_at.eq(micros(command.now)),
        grants::revocation_reason.eq(RevocationReason::AccountDeleted.name()),
        grants::family.eq(""),
        grants::chain.eq(""),
        grants::address.eq(""),
        grants::nonce.eq(None::<&str>),
    );
    diesel::update(live).set(ended).execute(connection)?;
    diesel::delete(signed_consents::table.filter(signed_consents::user_id.eq(id))).execute(connection)?;
    diesel::delete(consents::table.filter(consents::user_id.eq(id))).execute(connection)?;
    sessions::end_of_user(connection, id)?;
    remove_email(connection, &RemoveEmail { user: command.user })?;
    diesel::delete(wallets::table.filter(wallets::user_id.eq(id))).execute(connection)?;
    let deleted = diesel::delete(users::table.find(id)).execute(connection)?;
    Ok(deleted == 1)
}
