//! The access of a user ends, or what was given by one of their wallets.

use std::collections::HashSet;

use countersign_domain::id::{SessionId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AccessEnded, EndAccess, SessionClient};

use crate::columns::{At, Id, Key, Moment, Nullable, Row, StoredId, Text};
use crate::database::Statement;
use crate::ops::accounts::wallets::{lock_user, under_lock_of_owner};
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError};

/// What a wallet gave is all its user's: unlinking it ended what it gave to others.
pub fn end_access(db: &mut impl Database, command: &EndAccess) -> Result<AccessEnded, SqlError> {
    match &command.who {
        Subject::User(user) => db.all_or_nothing(|db| {
            // A user who does not exist has nothing, so the rest finds nothing.
            lock_user(db, *user)?;
            Ok(end(db, command, *user, None)?)
        }),
        Subject::Wallet(wallet) => under_lock_of_owner(db, wallet, |db, owner| match owner {
            Some(owner) => end(db, command, owner, Some(wallet)),
            None => Ok(AccessEnded::default()),
        }),
    }
}

/// All of a user's, or what belongs to this wallet. Each is a statement of its own, so that it sees what the
/// operations wrote for which the ones before it waited.
fn end<D: Database>(
    db: &mut D,
    command: &EndAccess,
    owner: UserId,
    wallet: Option<&WalletAccount>,
) -> Result<AccessEnded, SqlError> {
    let (family, address) = (wallet.map(|wallet| &*wallet.family), wallet.map(|wallet| &*wallet.address));
    let user = Id::from(owner);
    if D::HAS_SEVERAL_WRITERS {
        HoldWallets { user, family, address }.run(db)?;
    }
    let sessions: Vec<StoredId> = DeleteSessions { user, family, address }.all(db)?;
    let (now, reason) = (At(command.now), command.reason.name());
    let keeps = command.keeps.map(|scope| format!(" {} ", scope.name()));
    let grants: Vec<(Option<StoredId>, StoredId)> =
        EndGrants { user, family, address, now, reason, keeps: keeps.as_deref() }.all(db)?;
    let kept = match keeps {
        Some(_) => KeptGrants { user, family, address }.all(db)?,
        None => Vec::new(),
    };
    let ended: HashSet<&StoredId> = sessions.iter().collect();
    let mut clients: Vec<(UserId, SessionClient)> = Vec::new();
    for (session, client) in grants.iter().chain(&kept) {
        let Some(session) = session.as_ref().filter(|session| ended.contains(session)) else { continue };
        let at = Row { table: "grants", key: session };
        let session: SessionId = at.id("session_id", session)?;
        clients.push((owner, SessionClient { session, client: at.id("client_id", client)? }));
    }
    clients.sort_unstable();
    clients.dedup();
    if !sessions.is_empty() || !grants.is_empty() {
        record(db, command.event.as_deref())?;
    }
    let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
    Ok(AccessEnded { clients, sessions: count(sessions.len()), grants: count(grants.len()) })
}

statement! {
    /// Waits for current logins with the wallets and makes later ones wait: each login locks its wallet.
    HoldWallets<'a> {
        user: Id as Key,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    },
    sqlite = "SELECT 1",
    postgres = "\
        SELECT FROM wallets \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        ORDER BY family, address FOR UPDATE"
}

statement! {
    /// Waits for operations that continue one of these sessions.
    DeleteSessions<'a> {
        user: Id as Key,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> Key,
    sqlite = "\
        DELETE FROM login_sessions \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        RETURNING id",
    postgres = "\
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
        user: Id as Key,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        now: At as Moment,
        reason: &'a str as Text,
        keeps: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<Key>, Key),
    sqlite = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
        AND revoked_at IS NULL AND (:keeps IS NULL OR instr(' ' || scope || ' ', :keeps) = 0) \
        RETURNING session_id, client_id",
    postgres = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
          AND revoked_at IS NULL AND (:keeps IS NULL OR strpos(' ' || scope || ' ', :keeps) = 0) \
        RETURNING session_id, client_id"
}

statement! {
    /// Their clients are notified that the sessions ended, like those of the grants that ended.
    KeptGrants<'a> {
        user: Id as Key,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
    } -> (Nullable<Key>, Key) = "\
        SELECT session_id, client_id FROM grants \
        WHERE user_id = :user AND (:family IS NULL OR (family = :family AND address = :address)) \
          AND revoked_at IS NULL"
}
