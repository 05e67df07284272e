//! Wallets and their users, and the challenges that change them: what several operations do with them.

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::columns::{At, BigInt, Bool, Id, Key, Moment, Row, StoredId, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// The user of a wallet.
pub fn find_owner(db: &mut impl Database, account: &WalletAccount) -> Result<Option<UserId>, SqlError> {
    let owner: Option<StoredId> = OwnerOf { family: &account.family, address: &account.address }.maybe(db)?;
    user(account, owner)
}

/// How many wallets a user has.
pub fn count_of(db: &mut impl Database, user: UserId) -> Result<i64, SqlError> {
    CountOf { user: user.into() }.one(db)
}

/// Locks a user until the transaction ends, as [`lock_user_of`] does. Returns whether the user exists.
pub fn lock_user(db: &mut impl Database, user: UserId) -> Result<bool, SqlError> {
    let found: Option<StoredId> = LockUserById { user: user.into() }.maybe(db)?;
    Ok(found.is_some())
}

/// Locks the user who had the signer's wallet when the text was issued, until the transaction ends. Among several
/// writers, a statement does not see what happened while it waited, so the next one checks that the wallet is still
/// theirs. From then on it stays theirs, because unlinking it takes the same lock.
pub fn lock_user_of<D: Database>(
    db: &mut D,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> Result<Option<UserId>, SqlError> {
    let (family, address, begun_at) = (&*signer.family, &*signer.address, At(begun_at));
    let locked: Option<StoredId> = LockUser { family, address, begun_at }.maybe(db)?;
    let locked = user(signer, locked)?;
    if !D::HAS_SEVERAL_WRITERS || locked.is_none() {
        return Ok(locked);
    }
    let owner: Option<StoredId> = OwnerSince { family, address, begun_at }.maybe(db)?;
    Ok(user(signer, owner)?.filter(|owner| Some(*owner) == locked))
}

/// Carries out a transaction under the lock of the user who has a wallet, if there is one. If
/// the wallet changed hands while this waited for the lock, it begins again with the user who has it now.
pub fn under_lock_of_owner<D: Database, T>(
    db: &mut D,
    wallet: &WalletAccount,
    mut steps: impl FnMut(&mut D, Option<UserId>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    loop {
        let done = db.all_or_nothing(|db| {
            let lock = LockOwner { family: &wallet.family, address: &wallet.address };
            let locked: Option<StoredId> = lock.maybe(db)?;
            let locked = user(wallet, locked)?;
            if D::HAS_SEVERAL_WRITERS && find_owner(db, wallet)? != locked {
                return Err(Undone::Refused(None));
            }
            Ok(Some(steps(db, locked)?))
        })?;
        if let Some(outcome) = done {
            return Ok(outcome);
        }
    }
}

/// Spends a challenge. Returns whether it was not spent before.
pub fn spend(db: &mut impl Database, id: GrantId, forget_after: OffsetDateTime) -> Result<bool, SqlError> {
    Ok(Spend { id: id.into(), forget_after: At(forget_after) }.run(db)? == 1)
}

/// Is a user or the wallet that signed for them blocked, and is another wallet? Ask under the user's lock:
/// blocking the user or a wallet of theirs takes it too.
pub fn are_blocked(
    db: &mut impl Database,
    user: UserId,
    signer: &WalletAccount,
    wallet: &WalletAccount,
) -> Result<(bool, bool), SqlError> {
    let are_blocked = AreBlocked {
        user: user.into(),
        signer_family: &signer.family,
        signer_address: &signer.address,
        family: &wallet.family,
        address: &wallet.address,
    };
    are_blocked.one(db)
}

fn user(wallet: &WalletAccount, stored: Option<StoredId>) -> Result<Option<UserId>, SqlError> {
    Row { table: "wallets", key: &wallet.address }.optional_id("user_id", stored.as_ref())
}

statement! {
    OwnerOf<'a> { family: &'a str as Text, address: &'a str as Text } -> Key = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    CountOf { user: Id as Key } -> BigInt = "SELECT count(*) FROM wallets WHERE user_id = :user"
}

statement! {
    OwnerSince<'a> { family: &'a str as Text, address: &'a str as Text, begun_at: At as Moment } -> Key = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address AND linked_at <= :begun_at"
}

statement! {
    LockUserById { user: Id as Key } -> Key,
    sqlite = "SELECT id FROM users WHERE id = :user",
    postgres = "SELECT id FROM users WHERE id = :user FOR UPDATE"
}

statement! {
    /// The same for the user of a wallet.
    LockOwner<'a> { family: &'a str as Text, address: &'a str as Text } -> Key,
    sqlite = "SELECT user_id FROM wallets WHERE family = :family AND address = :address",
    postgres = "\
        SELECT users.id FROM wallets JOIN users ON users.id = wallets.user_id \
        WHERE family = :family AND address = :address FOR UPDATE OF users"
}

statement! {
    /// Waits until no one else changes what this user has.
    LockUser<'a> { family: &'a str as Text, address: &'a str as Text, begun_at: At as Moment } -> Key,
    sqlite = "\
        SELECT user_id FROM wallets WHERE family = :family AND address = :address AND linked_at <= :begun_at",
    postgres = "\
        SELECT users.id FROM wallets JOIN users ON users.id = wallets.user_id \
        WHERE family = :family AND address = :address AND linked_at <= :begun_at FOR UPDATE OF users"
}

statement! {
    /// One row if the challenge was not spent, none otherwise. Waits for anybody else who is spending it.
    Spend { id: Id as Key, forget_after: At as Moment } = "\
        INSERT INTO spent_challenges (id, forget_after) VALUES (:id, :forget_after) ON CONFLICT (id) DO NOTHING"
}

statement! {
    pub AreBlocked<'a> {
        user: Id as Key,
        signer_family: &'a str as Text,
        signer_address: &'a str as Text,
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Bool, Bool) = "\
        SELECT EXISTS (SELECT 1 FROM blocked_users WHERE user_id = :user) \
            OR EXISTS ( \
              SELECT 1 FROM blocked_wallets WHERE family = :signer_family AND address = :signer_address \
            ), \
          EXISTS (SELECT 1 FROM blocked_wallets WHERE family = :family AND address = :address)"
}

statement! {
    /// What operators called a wallet is forgotten.
    pub ForgetNameOfWallet<'a> { family: &'a str as Text, address: &'a str as Text } = "\
        DELETE FROM named_wallets WHERE family = :family AND address = :address"
}
