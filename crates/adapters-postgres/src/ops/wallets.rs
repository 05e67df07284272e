//! What the operations on people and their wallets have in common: a transaction that a refusal undoes, the challenge, the turn,
//! and a first login that is not the only one.

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::{OpError, OpResult};
use crate::statement::statement;

/// Why a transaction leaves nothing behind.
pub(crate) enum Undone<T> {
    /// Its outcome is a refusal.
    Refused(T),
    /// It has no outcome.
    Failed(OpError),
}

impl<T> From<diesel::result::Error> for Undone<T> {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Carries out several statements as one transaction.
pub(crate) fn all_or_nothing<T>(
    connection: &mut PgConnection,
    steps: impl FnOnce(&mut PgConnection) -> Result<T, Undone<T>>,
) -> OpResult<T> {
    match connection.transaction(steps) {
        Ok(outcome) | Err(Undone::Refused(outcome)) => Ok(outcome),
        Err(Undone::Failed(error)) => Err(error),
    }
}

statement! {
    /// One row if the challenge was not spent, none otherwise. Waits for whoever else is spending it.
    Spend { id: Uuid as SqlUuid, forget_after: OffsetDateTime as Timestamptz } = "\
        INSERT INTO spent_challenges (id, forget_after) VALUES (:id, :forget_after) ON CONFLICT (id) DO NOTHING"
}

statement! {
    /// Waits until nobody else changes what this user has.
    LockUser<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        begun_at: OffsetDateTime as Timestamptz,
    } -> (SqlUuid) = "\
        SELECT users.id FROM wallets JOIN users ON users.id = wallets.user_id \
        WHERE family = :family AND address = :address AND linked_at <= :begun_at FOR UPDATE OF users"
}

statement! {
    OwnerOf<'a> { family: &'a str as Text, address: &'a str as Text } -> (SqlUuid) = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address"
}

/// Spends a challenge; the answer says whether it was good.
pub(crate) fn spend(
    connection: &mut PgConnection,
    id: GrantId,
    forget_after: OffsetDateTime,
) -> QueryResult<bool> {
    Ok(Spend { id: id.as_uuid(), forget_after }.execute(connection)? == 1)
}

statement! {
    LockUserById { user: Uuid as SqlUuid } -> (SqlUuid) = "SELECT id FROM users WHERE id = :user FOR UPDATE"
}

/// Locks a user until the transaction ends, as [`lock_user_of`] does; the answer says whether they are there.
pub(crate) fn lock_user(connection: &mut PgConnection, user: UserId) -> QueryResult<bool> {
    let lock = LockUserById { user: user.as_uuid() };
    Ok(lock.get_result::<(Uuid,)>(connection).optional()?.is_some())
}

/// Locks the user whose wallet the signer was when the text was issued until the transaction ends. A statement does not see what happened while it waited, so
/// the next one asks whether the signer is still theirs; from then on it stays, because unlinking it takes the lock.
pub(crate) fn lock_user_of(
    connection: &mut PgConnection,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> QueryResult<Option<Uuid>> {
    let lock = LockUser { family: &signer.family, address: &signer.address, begun_at };
    let Some((user,)) = lock.get_result::<(Uuid,)>(connection).optional()? else { return Ok(None) };
    let owner = owner_since(connection, signer, begun_at)?;
    Ok(owner.filter(|owner| *owner == user))
}

statement! {
    OwnerSince<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        begun_at: OffsetDateTime as Timestamptz,
    } -> (SqlUuid) = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address AND linked_at <= :begun_at"
}

/// The user of a wallet that was theirs at this time and has been since.
fn owner_since(
    connection: &mut PgConnection,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> QueryResult<Option<Uuid>> {
    let owner = OwnerSince { family: &signer.family, address: &signer.address, begun_at };
    Ok(owner.get_result::<(Uuid,)>(connection).optional()?.map(|(user,)| user))
}

/// The user of a wallet.
pub(crate) fn owner_of(connection: &mut PgConnection, account: &WalletAccount) -> QueryResult<Option<Uuid>> {
    let owner = OwnerOf { family: &account.family, address: &account.address };
    Ok(owner.get_result::<(Uuid,)>(connection).optional()?.map(|(user,)| user))
}

/// How often a login is tried. After the first time the wallet is known, or somebody unlinked it just then.
const TRIES: u32 = 4;

/// Carries out a login. If its wallet is new, and another one took the wallet's key meanwhile, that one has ended, and the login
/// is tried again.
pub(crate) fn until_the_wallet_is_known<T>(mut login: impl FnMut() -> OpResult<T>) -> OpResult<T> {
    let mut tries = 1;
    loop {
        match login() {
            Err(error) if error.is_taken_key() && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}
