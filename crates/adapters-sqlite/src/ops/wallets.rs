//! Wallets and the challenges that moved them: what several operations do with them.

use countersign_domain::id::GrantId;
use countersign_domain::wallet::WalletAccount;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{spent_challenges, wallets};

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

/// Was this challenge spent by linking or unlinking?
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
    InsertSpent { id: id.as_bytes(), forget_after: micros(forget_after) }.execute(connection)?;
    Ok(())
}

statement! {
    struct InsertWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user_id: &'a [u8] as Binary,
        linked_at: i64 as BigInt,
        chain: &'a str as Text,
    }
    "INSERT INTO wallets (family, address, user_id, linked_at, chain) VALUES (?, ?, ?, ?, ?)"
}

statement! {
    struct InsertSpent<'a> {
        id: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
    }
    "INSERT INTO spent_challenges (id, forget_after) VALUES (?, ?)"
}
