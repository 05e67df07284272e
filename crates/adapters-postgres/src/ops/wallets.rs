//! Wallets, and the challenges that change them: what several operations do with them.

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::transaction::{Undone, all_or_nothing};
use crate::error::OpResult;
use crate::statement::statement;

/// The user of a wallet.
pub(crate) fn owner_of(connection: &mut PgConnection, account: &WalletAccount) -> QueryResult<Option<Uuid>> {
    let owner = OwnerOf { family: &account.family, address: &account.address };
    owner.get_result(connection).optional()
}

/// The user who has had a wallet since this time.
fn owner_since(
    connection: &mut PgConnection,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> QueryResult<Option<Uuid>> {
    let owner = OwnerSince { family: &signer.family, address: &signer.address, begun_at };
    owner.get_result(connection).optional()
}

/// Locks a user until the transaction ends, as [`lock_user_of`] does. Returns whether the user exists.
pub(crate) fn lock_user(connection: &mut PgConnection, user: UserId) -> QueryResult<bool> {
    let lock = LockUserById { user: user.as_uuid() };
    Ok(lock.get_result::<Uuid>(connection).optional()?.is_some())
}

/// Locks the user who had the signer's wallet when the text was issued, until the transaction ends. A
/// statement does not see what happened while it waited, so the next one checks that the wallet is still
/// theirs. From then on it stays theirs, because unlinking it takes the same lock.
pub(crate) fn lock_user_of(
    connection: &mut PgConnection,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> QueryResult<Option<Uuid>> {
    let lock = LockUser { family: &signer.family, address: &signer.address, begun_at };
    let Some(user) = lock.get_result::<Uuid>(connection).optional()? else { return Ok(None) };
    let owner = owner_since(connection, signer, begun_at)?;
    Ok(owner.filter(|owner| *owner == user))
}

/// Carries out a transaction under the lock of the user whom a wallet belongs to, if it belongs to anyone. If
/// the wallet changed hands while this waited for the lock, it begins again with the user who has it now.
pub(crate) fn under_lock_of_owner<T>(
    connection: &mut PgConnection,
    wallet: &WalletAccount,
    mut steps: impl FnMut(&mut PgConnection, Option<Uuid>) -> OpResult<T>,
) -> OpResult<T> {
    loop {
        let done = all_or_nothing(connection, |connection| {
            let lock = LockOwner { family: &wallet.family, address: &wallet.address };
            let locked = lock.get_result::<Uuid>(connection).optional()?;
            if owner_of(connection, wallet)? != locked {
                return Err(Undone::Refused(None));
            }
            steps(connection, locked).map(Some).map_err(Undone::Failed)
        })?;
        if let Some(outcome) = done {
            return Ok(outcome);
        }
    }
}

/// Spends a challenge. Returns whether it was not spent before.
pub(crate) fn spend(
    connection: &mut PgConnection,
    id: GrantId,
    forget_after: OffsetDateTime,
) -> QueryResult<bool> {
    Ok(Spend { id: id.as_uuid(), forget_after }.execute(connection)? == 1)
}

/// How often a login is tried. The second time the wallet is known, unless somebody has just unlinked it.
const TRIES: u32 = 4;

/// Carries out a login. If its wallet is new and another login took the wallet's key in the meantime, that
/// one is complete, and this one is tried again.
pub(crate) fn until_the_wallet_is_known<T>(mut login: impl FnMut() -> OpResult<T>) -> OpResult<T> {
    let mut tries = 1;
    loop {
        match login() {
            Err(error) if error.is_taken_key() && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

statement! {
    OwnerOf<'a> { family: &'a str as Text, address: &'a str as Text } -> SqlUuid = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    OwnerSince<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        begun_at: OffsetDateTime as Timestamptz,
    } -> SqlUuid = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address AND linked_at <= :begun_at"
}

statement! {
    LockUserById { user: Uuid as SqlUuid } -> SqlUuid = "SELECT id FROM users WHERE id = :user FOR UPDATE"
}

statement! {
    /// The same for the user of a wallet.
    LockOwner<'a> { family: &'a str as Text, address: &'a str as Text } -> SqlUuid = "\
        SELECT users.id FROM wallets JOIN users ON users.id = wallets.user_id \
        WHERE family = :family AND address = :address FOR UPDATE OF users"
}

statement! {
    /// Waits until nobody else changes what this user has.
    LockUser<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        begun_at: OffsetDateTime as Timestamptz,
    } -> SqlUuid = "\
        SELECT users.id FROM wallets JOIN users ON users.id = wallets.user_id \
        WHERE family = :family AND address = :address AND linked_at <= :begun_at FOR UPDATE OF users"
}

statement! {
    /// One row if the challenge was not spent, none otherwise. Waits for anybody else who is spending it.
    Spend { id: Uuid as SqlUuid, forget_after: OffsetDateTime as Timestamptz } = "\
        INSERT INTO spent_challenges (id, forget_after) VALUES (:id, :forget_after) ON CONFLICT (id) DO NOTHING"
}
