//! A person signed in and the browser remembers it. No client gets anything.

use countersign_domain::id::UserId;
use countersign_ports::{OpenSession, SessionOpened};
use countersign_sql::columns::{At, Id, Row, StoredId};
use countersign_sql::schema::login_sessions;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::wallets::until_the_wallet_is_known;
use crate::error::OpResult;
use crate::statement::{Act, ActText, load, statement};

pub(crate) fn open_session(connection: &mut PgConnection, command: &OpenSession) -> OpResult<SessionOpened> {
    let stored = until_the_wallet_is_known(|| store(connection, command))?;
    if let Some(user) = stored {
        return Ok(SessionOpened::Opened { user: UserId::from_uuid(user) });
    }
    repeated_or_spent(connection, command)
}

fn store(connection: &mut PgConnection, command: &OpenSession) -> OpResult<Option<Uuid>> {
    let session = &command.session;
    let statement = StoreSession {
        id: command.id.as_uuid(),
        forget_after: command.forget_after,
        family: &command.account.family,
        chain: &command.account.chain,
        address: &command.account.address,
        new_user: command.new_user.as_uuid(),
        session: session.id.as_uuid(),
        session_hash: session.secret_hash.as_bytes(),
        browser: &session.browser,
        now: command.now,
        expires_at: session.expires_at,
        replaces: session.replaces.map(|replaced| replaced.as_uuid()),
    };
    let event = command.event.as_deref().map(|event| (command.id.as_uuid(), event));
    let mut users: Vec<Uuid> = load(connection, statement, event)?;
    Ok(users.pop())
}

/// The challenge was used before: by this command, if its session exists and has not expired.
fn repeated_or_spent(connection: &mut PgConnection, command: &OpenSession) -> OpResult<SessionOpened> {
    let session = &command.session;
    let present: Option<StoredId> = login_sessions::table
        .find(Id::from(session.id))
        .filter(login_sessions::secret_hash.eq(session.secret_hash.as_bytes().as_slice()))
        .filter(login_sessions::expires_at.gt(At(command.now)))
        .select(login_sessions::user_id)
        .first(connection)
        .optional()?;
    let Some(user) = present else { return Ok(SessionOpened::ChallengeSpent) };
    let at = Row { table: "login_sessions", key: &session.id };
    Ok(SessionOpened::Opened { user: at.id("user_id", &user)? })
}

statement! {
    /// Returns the user if the challenge was not spent; otherwise nothing is written. The wallet is treated
    /// as in a login (`complete_login.rs`). The challenge comes before the wallet, as where wallets are
    /// linked and unlinked.
    StoreSession<'a> {
        id: Uuid as SqlUuid,
        forget_after: OffsetDateTime as Timestamptz,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        new_user: Uuid as SqlUuid,
        session: Uuid as SqlUuid,
        session_hash: &'a [u8] as Binary,
        browser: &'a str as Text,
        now: OffsetDateTime as Timestamptz,
        expires_at: OffsetDateTime as Timestamptz,
        replaces: Option<Uuid> as Nullable<SqlUuid>,
    } = "\
        WITH spent AS ( \
          INSERT INTO spent_challenges (id, forget_after) \
          SELECT :id, :forget_after WHERE NOT EXISTS (SELECT FROM grants WHERE id = :id) \
          ON CONFLICT (id) DO NOTHING \
          RETURNING id \
        ), known AS ( \
          SELECT user_id FROM wallets \
          WHERE family = :family AND address = :address AND EXISTS (SELECT FROM spent) FOR KEY SHARE \
        ), signed AS ( \
          SELECT COALESCE((SELECT user_id FROM known), :new_user) AS user_id FROM spent \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT :family, :address, user_id, :now, :chain FROM signed WHERE NOT EXISTS (SELECT FROM known) \
          RETURNING user_id \
        ), born AS ( \
          INSERT INTO users (id, created_at, untold_since) SELECT user_id, :now, :now FROM linked \
        ), ended AS ( \
          DELETE FROM login_sessions USING signed WHERE login_sessions.id = :replaces \
        ), opened AS ( \
          INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, \
            authenticated_at, last_used_at, expires_at) \
          SELECT :session, user_id, :family, :chain, :address, :session_hash, :browser, :now, :now, :expires_at \
          FROM signed \
          RETURNING user_id \
        )"
}

impl Act for StoreSession<'_> {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::One { done: "opened", answer: " SELECT user_id FROM opened" };
}
