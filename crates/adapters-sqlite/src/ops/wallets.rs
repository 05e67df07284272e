//! Wallets, and the challenges that change them: what several operations do with them.

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{spent_challenges, wallets};
use crate::statement::statement;

/// The bytes of the id of the wallet's user.
pub(crate) fn owner_of(
    connection: &mut SqliteConnection,
    account: &WalletAccount,
) -> Result<Option<Vec<u8>>, SqliteError> {
    let owner = wallets::table
        .find((&account.family, &account.address))
        .select(wallets::user_id)
        .get_result(connection)
        .optional()?;
    Ok(owner)
}

/// The same for a wallet that signed a text, if it was already theirs when the text was issued.
pub(crate) fn owner_since(
    connection: &mut SqliteConnection,
    signer: &WalletAccount,
    begun_at: OffsetDateTime,
) -> Result<Option<Vec<u8>>, SqliteError> {
    let owner = wallets::table
        .find((&signer.family, &signer.address))
        .filter(wallets::linked_at.le(micros(begun_at)))
        .select(wallets::user_id)
        .get_result(connection)
        .optional()?;
    Ok(owner)
}

/// Gives a wallet that nobody has to a user.
pub(crate) fn insert(
    connection: &mut SqliteConnection,
    account: &WalletAccount,
    user_id: &[u8],
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    let WalletAccount { family, chain, address } = account;
    InsertWallet { family, address, user_id, linked_at: micros(now), chain }.execute(connection)?;
    Ok(())
}

/// Creates the user of a wallet that signs in for the first time, and gives them the wallet.
pub(crate) fn make_user(
    connection: &mut SqliteConnection,
    account: &WalletAccount,
    new_user: UserId,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    let user = new_user.as_uuid();
    let make = InsertUser { id: user.as_bytes(), created_at: micros(now) };
    if make.execute(connection)? == 1 {
        return insert(connection, account, user.as_bytes(), now);
    }
    // The proposed user exists. That is fine if the wallet is already theirs; otherwise the id belongs to
    // somebody else.
    let owner = owner_of(connection, account)?;
    if owner.is_some() { Ok(()) } else { Err(SqliteError::UserIdTaken) }
}

/// Was this challenge spent without becoming a grant?
pub(crate) fn is_spent(connection: &mut SqliteConnection, id: GrantId) -> Result<bool, SqliteError> {
    let id = id.as_uuid();
    let spent = spent_challenges::table.find(id.as_bytes().as_slice());
    Ok(diesel::select(exists(spent)).get_result(connection)?)
}

/// Spends a challenge that is not spent.
pub(crate) fn spend(
    connection: &mut SqliteConnection,
    id: GrantId,
    forget_after: OffsetDateTime,
) -> Result<(), SqliteError> {
    let id = id.as_uuid();
    Spend { id: id.as_bytes(), forget_after: micros(forget_after) }.execute(connection)?;
    Ok(())
}

statement! {
    InsertUser<'a> {
        id: &'a [u8] as Binary,
        created_at: i64 as BigInt,
    } = "\
        INSERT INTO users (id, created_at, untold_since) VALUES (:id, :created_at, :created_at) ON CONFLICT (id) DO NOTHING"
}

statement! {
    InsertWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user_id: &'a [u8] as Binary,
        linked_at: i64 as BigInt,
        chain: &'a str as Text,
    } = "\
        INSERT INTO wallets (family, address, user_id, linked_at, chain) VALUES (:family, :address, :user_id, :linked_at, :chain)"
}

statement! {
    Spend<'a> {
        id: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
    } = "INSERT INTO spent_challenges (id, forget_after) VALUES (:id, :forget_after)"
}
