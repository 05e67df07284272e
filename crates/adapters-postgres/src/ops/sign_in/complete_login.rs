//! A person signs in.
//!
//! The grant is stored first, because its key is the guard. Then, if no user has the wallet yet, the wallet
//! and its user are stored, then what the user agreed to, and the session if the browser remembers one.

use countersign_domain::id::UserId;
use countersign_ports::{CompleteLogin, LoginCompleted};
use countersign_sql::columns::{Id, Row, StoredId};
use countersign_sql::rows::grant::NewGrant;
use countersign_sql::schema::grants;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::wallets::until_the_wallet_is_known;
use crate::error::OpResult;
use crate::statement::{Act, ActText, load, statement};

pub(crate) fn complete_login(
    connection: &mut PgConnection,
    command: &CompleteLogin,
) -> OpResult<LoginCompleted> {
    let stored = until_the_wallet_is_known(|| store(connection, command))?;
    if let Some(user) = stored {
        return Ok(LoginCompleted::CodeIssued { user: UserId::from_uuid(user) });
    }
    repeated_or_spent(connection, command)
}

fn store(connection: &mut PgConnection, command: &CompleteLogin) -> OpResult<Option<Uuid>> {
    let session = command.session.as_ref();
    let signed = command.signed_scope();
    let statement = StoreLogin {
        grant: NewGrant::of_login(command, session.map(|session| session.id), command.now),
        new_user: command.new_user.as_uuid(),
        scopes: signed.bits().into(),
        own_scopes: signed.own_text(),
        destination: command.terms.destination.to_text(),
        audiences: command.terms.audiences.to_text(),
        session_hash: session.map(|session| session.secret_hash.as_bytes().as_slice()),
        browser: session.map(|session| session.browser.as_str()),
        session_expires_at: session.map(|session| session.expires_at),
        replaces: session.and_then(|session| session.replaces).map(|replaced| replaced.as_uuid()),
    };
    let event = command.event.as_deref().map(|event| (command.id.as_uuid(), event));
    let mut users: Vec<Uuid> = load(connection, statement, event)?;
    Ok(users.pop())
}

/// A grant has this id: it is this command's if it has the same code for the same account.
fn repeated_or_spent(connection: &mut PgConnection, command: &CompleteLogin) -> OpResult<LoginCompleted> {
    let account = &command.account;
    let this_grant = grants::table
        .find(Id::from(command.id))
        .filter(grants::code_hash.eq(command.code_hash.as_bytes().as_slice()))
        .filter(grants::family.eq(&account.family))
        .filter(grants::chain.eq(&account.chain))
        .filter(grants::address.eq(&account.address));
    let user: Option<StoredId> = this_grant.select(grants::user_id).first(connection).optional()?;
    let Some(user) = user else { return Ok(LoginCompleted::ChallengeSpent) };
    let at = Row { table: "grants", key: &command.id };
    Ok(LoginCompleted::CodeIssued { user: at.id("user_id", &user)? })
}

statement! {
    /// Returns the user if the grant is new; otherwise nothing is written. If another first login of the
    /// wallet was faster, or it was linked, the wallet's key is taken. Then the whole statement fails,
    /// because the grant would name a user who has no wallet.
    ///
    /// A known wallet is locked against deletion. Either unlinking waits for this login, sees its grant and
    /// revokes it, or this login waits for the unlinking and finds that no user has the wallet. This holds
    /// because a wallet only changes hands as a row that is deleted and another that is inserted; an update
    /// of `user_id` would not be noticed here. The lock is a mark in the wallet's row: up to 1 KB of log for
    /// each login, most of it for the first one on a page after a checkpoint, and no measurable difference in
    /// logins per second.
    ///
    /// The rows that will be written are locked first, in the order that `ops.rs` gives, because an operation
    /// that continues a session holds the consent and the session when it waits for a grant of this id. One
    /// CTE waits for another because it asks how many rows the other has, which is never more than one.
    /// Logins wait for each other only at one user's consent for one client and one set of terms.
    ///
    /// People who sign in authenticate now, so `authenticated_at` is also when everything else is created.
    StoreLogin<'a> {
        ..grant: NewGrant<'a>,
        new_user: Uuid as SqlUuid,
        scopes: i32 as Integer,
        own_scopes: String as Text,
        destination: &'a str as Text,
        audiences: String as Text,
        session_hash: Option<&'a [u8]> as Nullable<Binary>,
        browser: Option<&'a str> as Nullable<Text>,
        session_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        replaces: Option<Uuid> as Nullable<SqlUuid>,
    } = "\
        WITH known AS ( \
          SELECT user_id FROM wallets WHERE family = :grant.family AND address = :grant.address FOR KEY SHARE \
        ), agreed AS ( \
          SELECT user_id FROM signed_consents \
          WHERE user_id = (SELECT user_id FROM known) AND client_id = :grant.client_id \
            AND destination = :destination AND audiences = :audiences \
          FOR NO KEY UPDATE \
        ), replaced AS ( \
          SELECT id FROM login_sessions WHERE id = :replaces AND (SELECT count(*) FROM agreed) < 2 FOR UPDATE \
        ), granted AS ( \
          INSERT INTO grants (:grant.columns, review_at, user_id) \
          SELECT :grant.values, :grant.forget_after, COALESCE((SELECT user_id FROM known), :new_user) \
          WHERE (SELECT count(*) FROM agreed) < 2 AND (SELECT count(*) FROM replaced) < 2 \
          ON CONFLICT (id) DO NOTHING \
          RETURNING user_id \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT :grant.family, :grant.address, user_id, :grant.authenticated_at, :grant.chain FROM granted \
          WHERE NOT EXISTS (SELECT FROM known) \
          RETURNING user_id \
        ), born AS ( \
          INSERT INTO users (id, created_at, untold_since) \
          SELECT user_id, :grant.authenticated_at, :grant.authenticated_at FROM linked \
        ), consented AS ( \
          INSERT INTO signed_consents (user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at) \
          SELECT user_id, :grant.client_id, :destination, :audiences, :scopes, :own_scopes, :grant.authenticated_at, \
            :grant.authenticated_at \
          FROM granted \
          ON CONFLICT (user_id, client_id, destination, audiences) DO UPDATE \
          SET scopes = signed_consents.scopes | excluded.scopes, last_used_at = excluded.last_used_at, \
            own_scopes = CASE excluded.own_scopes WHEN '' THEN signed_consents.own_scopes ELSE array_to_string(ARRAY( \
              SELECT DISTINCT own COLLATE \"C\" \
              FROM unnest(string_to_array(signed_consents.own_scopes || ' ' || excluded.own_scopes, ' ')) AS own \
              WHERE own <> '' ORDER BY 1 \
            ), ' ') END \
        ), ended AS ( \
          DELETE FROM login_sessions USING granted WHERE login_sessions.id = :replaces \
        ), opened AS ( \
          INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, \
            authenticated_at, last_used_at, expires_at) \
          SELECT :grant.session_id, user_id, :grant.family, :grant.chain, :grant.address, :session_hash, :browser, \
            :grant.authenticated_at, :grant.authenticated_at, :session_expires_at \
          FROM granted WHERE :grant.session_id IS NOT NULL \
        )"
}

impl Act for StoreLogin<'_> {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::One { done: "granted", answer: " SELECT user_id FROM granted" };
}
