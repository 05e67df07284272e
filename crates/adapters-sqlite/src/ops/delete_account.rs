//! A user is deleted, with everything that belongs to them.

use countersign_domain::grant::RevocationReason;
use countersign_ports::DeleteAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text};

use super::forget_person::forget_person;
use super::proposals::{forget_proposals_of, fulfil};
use super::record_event::record;
use super::remove_email::{RemoveEmail, remove_email};
use super::sessions;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{consents, grants, signed_consents, users, wallets};
use crate::statement::statement;

/// Live grants are found by the index `grants_by_user`. They stay, as spent challenges, and no longer name a
/// wallet. So do the events, which name a pseudonym from now on. The user leaves groups, and a block of the user is deleted, by their foreign keys.
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
    BlockWallets { user: id, ethereum: chain_of_old_wallet("eip155") }.execute(connection)?;
    diesel::delete(wallets::table.filter(wallets::user_id.eq(id))).execute(connection)?;
    // The user may be one of the two who signed this.
    fulfil(connection, command.event.as_deref().and_then(|event| event.signed.as_ref()))?;
    forget_proposals_of(connection, command.user)?;
    let deleted = diesel::delete(users::table.find(id)).execute(connection)?;
    let events = forget_person(connection, command.user, command.pseudonym)?;
    if deleted == 0 {
        return Ok(false);
    }
    if let Some(event) = command.event.as_deref() {
        let mut event = event.clone().forgetting(command.pseudonym);
        event.details = event.details.number("events", events);
        record(connection, Some(&event))?;
    }
    Ok(true)
}

statement! {
    /// The wallets of a blocked user are blocked from now on. Where a chain is missing, it is that of an old
    /// wallet.
    BlockWallets<'a> {
        user: &'a [u8] as Binary,
        ethereum: String as Text,
    } = "\
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        SELECT family, address, coalesce(chain, CASE family WHEN 'eip155' THEN :ethereum ELSE family END), \
        blocked_at, reason \
        FROM blocked_users AS blocked CROSS JOIN wallets ON wallets.user_id = blocked.user_id \
        WHERE blocked.user_id = :user \
        ON CONFLICT (family, address) DO NOTHING"
}
