//! A user is deleted, with everything that belongs to them.

use countersign_domain::grant::RevocationReason;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::DeleteAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;

use super::end_session::end_of_user;
use super::remove_email::remove_email;
use super::wallets::{ForgetNameOfWallet, lock_user};
use crate::columns::{At, Id, Key, Moment, Text, WalletKeys};
use crate::database::Statement;
use crate::ops::events::forget_person::{forget_person, forget_proposals_of, pseudonym_left};
use crate::ops::events::fulfil::fulfil;
use crate::ops::events::record_event::record;
use crate::ops::suspended::{require_active, signers_of};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Live grants are found by the index `grants_by_user`, others by `grants_ended_by_user`. All of them stay, as spent
/// challenges and so that nothing works twice, and name the pseudonym: an event can name a grant. The events stay too, and
/// name the same. A block and a name of the user are deleted by their foreign keys. Suspended wallets stay so.
pub fn delete_account<D: Database>(db: &mut D, command: &DeleteAccount) -> Result<bool, SqlError> {
    let DeleteAccount { user: person, now, pseudonym, ref event, .. } = *command;
    let (user, now) = (Id::from(person), At(now));
    db.all_or_nothing(|db| {
        if !lock_user(db, person)? {
            forget_proposals_of(db, person)?;
            // Of a repeat, the rest of the events get the pseudonym of the deletion.
            if pseudonym_left(db, person)?.is_none() {
                forget_person(db, command, &WalletKeys(Vec::new()))?;
            }
            return Ok(false);
        }
        // Before proposals are locked, as everywhere.
        require_active(db, signers_of(event.as_deref()))?;
        // Each is a statement of its own, so that it sees what the operations wrote for which the ones before
        // it waited.
        DeleteMemberships { user }.run(db)?;
        let wallets = WalletKeys(KeysOfWallets { user }.all(db)?);
        for (family, address) in &wallets.0 {
            ForgetNameOfWallet { family, address }.run(db)?;
            ForgetUses { family, address }.run(db)?;
        }
        let kept_out: Vec<(String, String, String)> =
            BlockWallets { user, ethereum: chain_of_old_wallet("eip155") }.all(db)?;
        DeleteWallets { user }.run(db)?;
        DeleteConsents { user }.run(db)?;
        DeleteOfEarlierRelease { user }.run(db)?;
        end_of_user(db, person)?;
        EndGrants { user, now, reason: RevocationReason::AccountDeleted.name() }.run(db)?;
        if !D::HAS_SEVERAL_WRITERS {
            ForgetAccess { user }.run(db)?;
        }
        ForgetGrants { user, pseudonym: pseudonym.in_place_of_user().into() }.run(db)?;
        // The user may be one of the two who signed this.
        fulfil(db, event.as_deref().and_then(|event| event.signed.as_ref()))?;
        forget_proposals_of(db, person)?;
        remove_email(db, person)?;
        DeleteUser { user }.run(db)?;
        let events = forget_person(db, command, &wallets)?;
        if let Some(event) = event {
            for (family, chain, address) in kept_out {
                let wallet = WalletAccount { family, chain, address };
                record(db, Some(&event.of_wallet_kept_out(wallet)))?;
            }
            let event = event.clone().of_deletion(pseudonym, events);
            record(db, Some(&event))?;
        }
        Ok(true)
    })
}

statement! {
    /// In the order of their keys, because groups may be deleted at the same time.
    DeleteMemberships { user: Id as Key },
    sqlite = "DELETE FROM group_users WHERE user_id = :user",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT group_name FROM group_users WHERE user_id = :user ORDER BY group_name FOR UPDATE \
        ) \
        DELETE FROM group_users USING theirs \
        WHERE user_id = :user AND group_users.group_name = theirs.group_name"
}

statement! {
    pub KeysOfWallets { user: Id as Key } -> (Text, Text) = "\
        SELECT family, address FROM wallets WHERE user_id = :user ORDER BY family, address"
}

statement! {
    /// The wallets of a blocked user are blocked from now on. Returns those that were not yet. Where a chain is missing, it
    /// is that of an old wallet. PostgreSQL deletes the wallets first: that waits for current logins with them and makes
    /// later ones wait, because each login locks its wallet.
    BlockWallets { user: Id as Key, ethereum: String as Text } -> (Text, Text, Text),
    sqlite = "\
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        SELECT family, address, coalesce(chain, CASE family WHEN 'eip155' THEN :ethereum ELSE family END), \
        blocked_at, reason \
        FROM blocked_users AS blocked CROSS JOIN wallets ON wallets.user_id = blocked.user_id \
        WHERE blocked.user_id = :user \
        ON CONFLICT (family, address) DO NOTHING RETURNING family, chain, address",
    postgres = "\
        WITH gone AS (DELETE FROM wallets WHERE user_id = :user RETURNING family, address, chain) \
        INSERT INTO blocked_wallets (family, address, chain, blocked_at, reason) \
        SELECT family, address, COALESCE(chain, CASE family WHEN 'eip155' THEN :ethereum ELSE family END), \
          blocked_at, reason \
        FROM gone CROSS JOIN blocked_users WHERE user_id = :user \
        ORDER BY family COLLATE \"C\", address COLLATE \"C\" \
        ON CONFLICT (family, address) DO NOTHING \
        RETURNING family, chain, address"
}

statement! {
    DeleteWallets { user: Id as Key } = "DELETE FROM wallets WHERE user_id = :user"
}

statement! {
    /// Waits for sessions that are being continued.
    DeleteConsents { user: Id as Key },
    sqlite = "DELETE FROM signed_consents WHERE user_id = :user",
    postgres = "\
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
    DeleteOfEarlierRelease { user: Id as Key } = "DELETE FROM consents WHERE user_id = :user"
}

statement! {
    EndGrants { user: Id as Key, now: At as Moment, reason: &'static str as Text } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND revoked_at IS NULL"
}

statement! {
    /// In SQLite alone. The tokens of a grant are found from the newest one, by their parents. A token without a row in
    /// `access_tokens` is looked for in the other tables, which know that its grant ended.
    pub ForgetAccess { user: Id as Key },
    sqlite = "\
        WITH RECURSIVE theirs (id) AS ( \
          SELECT newest_token FROM grants INDEXED BY grants_ended_by_user \
          WHERE user_id = :user AND revoked_at IS NOT NULL AND newest_token IS NOT NULL \
          UNION \
          SELECT parent_id FROM theirs CROSS JOIN tokens ON tokens.id = theirs.id WHERE parent_id IS NOT NULL \
        ) \
        DELETE FROM access_tokens WHERE place IN ( \
          SELECT place FROM theirs CROSS JOIN tokens ON tokens.id = theirs.id WHERE place IS NOT NULL \
        ) AND user_id = :user",
    postgres = "SELECT 1"
}

statement! {
    /// Finds the grants by the index `grants_ended_by_user`, which has all of them by now.
    pub ForgetGrants { user: Id as Key, pseudonym: Id as Key },
    sqlite = "\
        UPDATE grants INDEXED BY grants_ended_by_user SET user_id = :pseudonym, family = '', chain = '', address = '', \
        nonce = NULL, particulars = NULL, session_id = NULL \
        WHERE user_id = :user AND revoked_at IS NOT NULL",
    postgres = "\
        UPDATE grants SET user_id = :pseudonym, family = '', chain = '', address = '', nonce = NULL, \
          particulars = NULL, session_id = NULL \
        WHERE user_id = :user AND revoked_at IS NOT NULL"
}

statement! {
    DeleteUser { user: Id as Key } = "DELETE FROM users WHERE id = :user"
}

statement! {
    /// Which invitation a wallet came in by is forgotten; the invitation still counts it.
    ForgetUses<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM invitation_uses WHERE family = :family AND address = :address"
}
