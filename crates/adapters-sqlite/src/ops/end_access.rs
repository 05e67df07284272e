//! The access of a user ends, or what was given by one of their wallets.

use std::collections::HashSet;

use countersign_domain::id::{SessionId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AccessEnded, Blocked, EndAccess, SessionClient};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::record_event::record;
use super::wallets::owner_of;
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

/// What a wallet gave is all its user's: unlinking it ended what it gave to others.
pub(crate) fn end_access(
    connection: &mut SqliteConnection,
    command: &EndAccess,
) -> Result<AccessEnded, SqliteError> {
    let ended = match &command.who {
        Blocked::User(user) => end(connection, command, user.as_uuid().as_bytes(), None)?,
        Blocked::Wallet(wallet) => match owner_of(connection, wallet)? {
            Some(owner) => end(connection, command, &owner, Some(wallet))?,
            None => AccessEnded::default(),
        },
    };
    if ended.sessions > 0 || ended.grants > 0 {
        record(connection, command.event.as_deref())?;
    }
    Ok(ended)
}

/// All of a user's, or what belongs to this wallet.
fn end(
    connection: &mut SqliteConnection,
    command: &EndAccess,
    user: &[u8],
    wallet: Option<&WalletAccount>,
) -> Result<AccessEnded, SqliteError> {
    let (family, address) = (wallet.map(|wallet| &*wallet.family), wallet.map(|wallet| &*wallet.address));
    let sessions: Vec<Vec<u8>> = DeleteSessions { user, family, address }.load(connection)?;
    let (now, reason) = (micros(command.now), command.reason.name());
    let keeps = command.keeps.map(|scope| format!(" {} ", scope.name()));
    let grants: Vec<(Option<Vec<u8>>, Vec<u8>)> =
        EndGrants { now, reason, user, family, address, keeps: keeps.as_deref() }.load(connection)?;
    let kept = match keeps {
        Some(_) => KeptGrants { user, family, address }.load(connection)?,
        None => Vec::new(),
    };
    let ended: HashSet<&[u8]> = sessions.iter().map(Vec::as_slice).collect();
    let mut clients: Vec<(UserId, SessionClient)> = Vec::new();
    for (session, client) in grants.iter().chain(&kept) {
        let Some(session) = session.as_deref().filter(|session| ended.contains(session)) else { continue };
        let at = Row { table: "grants", key: session };
        let session: SessionId = at.id("session_id", session)?;
        let client = at.id("client_id", client)?;
        clients.push((at.id("user_id", user)?, SessionClient { session, client }));
    }
    clients.sort_unstable();
    clients.dedup();
    let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
    Ok(AccessEnded { clients, sessions: count(sessions.len()), grants: count(grants.len()) })
}

statement! {
    DeleteSessions<'a> {
        user: &'a [u8] as Binary,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> Binary = "\
        DELETE FROM login_sessions \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        RETURNING id"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        now: i64 as BigInt,
        reason: &'static str as Text,
        user: &'a [u8] as Binary,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        keeps: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<Binary>, Binary) = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        AND revoked_at IS NULL AND (:keeps IS NULL OR instr(' ' || scope || ' ', :keeps) = 0) \
        RETURNING session_id, client_id"
}

statement! {
    /// Their clients are told that the sessions ended, as those of the grants that ended.
    KeptGrants<'a> {
        user: &'a [u8] as Binary,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<Binary>, Binary) = "\
        SELECT session_id, client_id FROM grants \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        AND revoked_at IS NULL"
}
