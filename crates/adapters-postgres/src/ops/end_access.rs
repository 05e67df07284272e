//! The access of a user ends, or what was given by one of their wallets.

use std::collections::HashSet;

use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AccessEnded, Blocked, EndAccess, SessionClient};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::{lock_user, under_lock_of_owner};
use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn end_access(connection: &mut PgConnection, command: &EndAccess) -> OpResult<AccessEnded> {
    match &command.who {
        Blocked::User(user) => all_or_nothing(connection, |connection| {
            // A user who does not exist has nothing, so the rest finds nothing.
            lock_user(connection, *user)?;
            end(connection, command, user.as_uuid(), None).map_err(Undone::Failed)
        }),
        Blocked::Wallet(wallet) => under_lock_of_owner(connection, wallet, |connection, owner| match owner {
            Some(owner) => end(connection, command, owner, Some(wallet)),
            None => Ok(AccessEnded::default()),
        }),
    }
}

/// All of a user's, or what belongs to this wallet. Each is a statement of its own, so that it sees what the
/// operations wrote for which the ones before it waited.
fn end(
    connection: &mut PgConnection,
    command: &EndAccess,
    user: Uuid,
    wallet: Option<&WalletAccount>,
) -> OpResult<AccessEnded> {
    let (family, address) = (wallet.map(|wallet| &*wallet.family), wallet.map(|wallet| &*wallet.address));
    HoldWallets { user, family, address }.execute(connection)?;
    let sessions: Vec<Uuid> = DeleteSessions { user, family, address }.load(connection)?;
    let reason = command.reason.name();
    let keeps = command.keeps.map(|scope| format!(" {} ", scope.name()));
    let grants = EndGrants { user, family, address, now: command.now, reason, keeps: keeps.as_deref() };
    let grants: Vec<(Option<Uuid>, Uuid)> = grants.load(connection)?;
    let kept = match keeps {
        Some(_) => KeptGrants { user, family, address }.load(connection)?,
        None => Vec::new(),
    };
    let ended: HashSet<Uuid> = sessions.iter().copied().collect();
    let of_session = |(session, client): &(Option<Uuid>, Uuid)| {
        let session = SessionId::from_uuid(session.filter(|session| ended.contains(session))?);
        Some((UserId::from_uuid(user), SessionClient { session, client: ClientId::from_uuid(*client) }))
    };
    let mut clients: Vec<_> = grants.iter().chain(&kept).filter_map(of_session).collect();
    clients.sort_unstable();
    clients.dedup();
    if !sessions.is_empty() || !grants.is_empty() {
        record(connection, command.event.as_deref())?;
    }
    let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
    Ok(AccessEnded { clients, sessions: count(sessions.len()), grants: count(grants.len()) })
}

statement! {
    /// Waits for current logins with the wallets and makes later ones wait: each login locks its wallet.
    HoldWallets<'a> {
        user: Uuid as SqlUuid,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } = "\
        SELECT FROM wallets \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        ORDER BY family, address FOR UPDATE"
}

statement! {
    /// Waits for operations that continue one of these sessions.
    DeleteSessions<'a> {
        user: Uuid as SqlUuid,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> SqlUuid = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM login_sessions \
          WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
          ORDER BY id FOR UPDATE \
        ) \
        DELETE FROM login_sessions USING theirs WHERE login_sessions.id = theirs.id \
        RETURNING login_sessions.id"
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        user: Uuid as SqlUuid,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        now: OffsetDateTime as Timestamptz,
        reason: &'static str as Text,
        keeps: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<SqlUuid>, SqlUuid) = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
          AND revoked_at IS NULL AND (:keeps IS NULL OR strpos(' ' || scope || ' ', :keeps) = 0) \
        RETURNING session_id, client_id"
}

statement! {
    /// Their clients are told that the sessions ended, as those of the grants that ended.
    KeptGrants<'a> {
        user: Uuid as SqlUuid,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<SqlUuid>, SqlUuid) = "\
        SELECT session_id, client_id FROM grants \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
          AND revoked_at IS NULL"
}
