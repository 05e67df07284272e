//! Wallets and their users, as sign-ins find and make them.

use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_sql::columns::{At, Id, Key, Moment, Row, StoredId, Text};
use countersign_sql::schema::wallets;
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::statement::statement;

/// The user of a wallet.
pub(crate) fn owner_of(
    connection: &mut SqliteConnection,
    account: &WalletAccount,
) -> Result<Option<UserId>, SqliteError> {
    let owner: Option<StoredId> = wallets::table
        .find((&account.family, &account.address))
        .select(wallets::user_id)
        .get_result(connection)
        .optional()?;
    Ok(Row { table: "wallets", key: &account.address }.optional_id("user_id", owner.as_ref())?)
}

/// Creates the user of a wallet that signs in for the first time, and gives them the wallet.
pub(crate) fn make_user(
    connection: &mut SqliteConnection,
    account: &WalletAccount,
    new_user: UserId,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    let (user, now) = (Id::from(new_user), At(now));
    if (InsertUser { id: user, created_at: now }).execute(connection)? == 1 {
        let WalletAccount { family, chain, address } = account;
        InsertWallet { family, address, user_id: user, linked_at: now, chain }.execute(connection)?;
        return Ok(());
    }
    // The proposed user exists. That is fine if the wallet is already theirs; otherwise the id belongs to
    // another user.
    let owner = owner_of(connection, account)?;
    if owner.is_some() { Ok(()) } else { Err(SqliteError::UserIdTaken) }
}

statement! {
    InsertUser {
        id: Id as Key,
        created_at: At as Moment,
    } = "\
        INSERT INTO users (id, created_at, untold_since) VALUES (:id, :created_at, :created_at) ON CONFLICT (id) DO NOTHING"
}

statement! {
    InsertWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user_id: Id as Key,
        linked_at: At as Moment,
        chain: &'a str as Text,
    } = "\
        INSERT INTO wallets (family, address, user_id, linked_at, chain) VALUES (:family, :address, :user_id, :linked_at, :chain)"
}
