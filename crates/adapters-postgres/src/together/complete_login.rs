//! Many logins at once; `ops/sign_in/complete_login.rs` explains one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use countersign_domain::id::UserId;
use countersign_ports::{CompleteLogin, LoginCompleted, NewSession};
use countersign_sql::rows::grant::{NewGrant, NewGrants};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::column;
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::sign_in::complete_login::complete_login;
use crate::statement::{Act, ActText, load, statement};

impl Batched for CompleteLogin {
    type Outcome = LoginCompleted;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        let mut wallet = DefaultHasher::new();
        (&self.account.family, &self.account.address).hash(&mut wallet);
        [self.id.as_uuid().as_u128(), wallet.finish().into()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<LoginCompleted>>> {
        let of_login =
            |login| NewGrant::of_login(login, login.session.as_ref().map(|session| session.id), login.now);
        let statement = StoreLogins {
            grants: batch.iter().map(of_login).collect(),
            new_user: column(batch, |command| command.new_user.as_uuid()),
            scopes: column(batch, |command| i32::from(command.scope.bits())),
            own_scopes: column(batch, |command| command.signed_scope().own_text()),
            destination: column(batch, |command| command.terms.destination.to_text()),
            audiences: column(batch, |command| command.terms.audiences.to_text()),
            session_hash: of_session(batch, |session| session.secret_hash.as_bytes().as_slice()),
            browser: of_session(batch, |session| session.browser.as_str()),
            session_expires_at: of_session(batch, |session| session.expires_at),
            replaces: column(batch, |command| {
                command
                    .session
                    .as_ref()
                    .and_then(|session| session.replaces)
                    .map(|replaced| replaced.as_uuid())
            }),
        };
        let events =
            batch.iter().filter_map(|command| Some((command.id.as_uuid(), command.event.as_deref()?)));
        let granted: Vec<(Uuid, Uuid)> = load(connection, statement, events)?;
        let users: HashMap<Uuid, Uuid> = granted.into_iter().collect();
        Ok(column(batch, |command| {
            let user = users.get(&command.id.as_uuid())?;
            Some(LoginCompleted::CodeIssued { user: UserId::from_uuid(*user) })
        }))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<LoginCompleted> {
        complete_login(connection, self)
    }
}

/// One value of each new session; none where a login has no session.
fn of_session<'a, T>(batch: &'a [CompleteLogin], value: impl Fn(&'a NewSession) -> T) -> Vec<Option<T>> {
    column(batch, |command| command.session.as_ref().map(&value))
}

statement! {
    /// Returns the new grants with their users.
    ///
    /// A login is left alone if its wallet, the consent that it adds to, or the session that it replaces
    /// exists and cannot be locked at once. All are locked before anything is written, because the new grants
    /// are sorted first. If another first login of one of the wallets was faster, the wallet's key is taken,
    /// and the whole statement fails.
    StoreLogins<'a> {
        ..grants: NewGrants<'a>,
        new_user: Vec<Uuid> as Array<SqlUuid>,
        scopes: Vec<i32> as Array<Integer>,
        own_scopes: Vec<String> as Array<Text>,
        destination: Vec<&'a str> as Array<Text>,
        audiences: Vec<String> as Array<Text>,
        session_hash: Vec<Option<&'a [u8]>> as Array<Nullable<Binary>>,
        browser: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        session_expires_at: Vec<Option<OffsetDateTime>> as Array<Nullable<Timestamptz>>,
        replaces: Vec<Option<Uuid>> as Array<Nullable<SqlUuid>>,
    } = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:grants.values, :new_user, :scopes, :own_scopes, :destination, :audiences, :session_hash, :browser, \
            :session_expires_at, :replaces) \
          AS asked (:grants.columns, new_user, scopes, own_scopes, destination, audiences, session_hash, browser, \
            session_expires_at, replaces) \
        ), known AS MATERIALIZED ( \
          SELECT asked.id, held.user_id FROM asked CROSS JOIN LATERAL ( \
            SELECT user_id FROM wallets WHERE wallets.family = asked.family AND wallets.address = asked.address \
            OFFSET 0 FOR KEY SHARE SKIP LOCKED \
          ) AS held \
        ), signed AS MATERIALIZED ( \
          SELECT asked.*, COALESCE(known.user_id, new_user) AS user_id, known.user_id IS NULL AS is_first \
          FROM asked LEFT JOIN known ON known.id = asked.id \
          WHERE known.user_id IS NOT NULL OR NOT EXISTS ( \
            SELECT FROM wallets WHERE wallets.family = asked.family AND wallets.address = asked.address OFFSET 0 \
          ) \
        ), agreed AS MATERIALIZED ( \
          SELECT signed.id FROM signed CROSS JOIN LATERAL ( \
            SELECT FROM signed_consents AS held_by \
            WHERE held_by.user_id = signed.user_id AND held_by.client_id = signed.client_id \
              AND held_by.destination = signed.destination AND held_by.audiences = signed.audiences \
            OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS held \
        ), replaced AS MATERIALIZED ( \
          SELECT signed.id, signed.replaces FROM signed CROSS JOIN LATERAL ( \
            SELECT FROM login_sessions WHERE login_sessions.id = signed.replaces \
            OFFSET 0 FOR UPDATE SKIP LOCKED \
          ) AS held \
        ), ready AS MATERIALIZED ( \
          SELECT signed.* FROM signed \
          WHERE ( \
            id IN (SELECT id FROM agreed) OR NOT EXISTS ( \
              SELECT FROM signed_consents AS there \
              WHERE there.user_id = signed.user_id AND there.client_id = signed.client_id \
                AND there.destination = signed.destination AND there.audiences = signed.audiences OFFSET 0 \
            ) \
          ) AND ( \
            replaces IS NULL OR id IN (SELECT id FROM replaced) OR NOT EXISTS ( \
              SELECT FROM login_sessions WHERE login_sessions.id = signed.replaces OFFSET 0 \
            ) \
          ) \
        ), granted AS ( \
          INSERT INTO grants (:grants.columns, review_at, user_id) \
          SELECT :grants.columns, forget_after, user_id \
          FROM ready ORDER BY id \
          ON CONFLICT (id) DO NOTHING \
          RETURNING id, user_id \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT family, address, ready.user_id, authenticated_at, chain FROM granted JOIN ready ON ready.id = granted.id \
          WHERE is_first ORDER BY family, address \
          RETURNING user_id, linked_at \
        ), born AS ( \
          INSERT INTO users (id, created_at, untold_since) SELECT user_id, linked_at, linked_at FROM linked \
        ), consented AS ( \
          INSERT INTO signed_consents (user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at) \
          SELECT ready.user_id, client_id, destination, audiences, scopes, own_scopes, authenticated_at, authenticated_at \
          FROM granted JOIN ready ON ready.id = granted.id \
          ORDER BY ready.user_id, client_id, destination, audiences \
          ON CONFLICT (user_id, client_id, destination, audiences) DO UPDATE \
          SET scopes = signed_consents.scopes | excluded.scopes, last_used_at = excluded.last_used_at, \
            own_scopes = CASE excluded.own_scopes WHEN '' THEN signed_consents.own_scopes ELSE array_to_string(ARRAY( \
              SELECT DISTINCT own COLLATE \"C\" \
              FROM unnest(string_to_array(signed_consents.own_scopes || ' ' || excluded.own_scopes, ' ')) AS own \
              WHERE own <> '' ORDER BY 1 \
            ), ' ') END \
        ), ended AS ( \
          DELETE FROM login_sessions USING granted JOIN replaced ON replaced.id = granted.id \
          WHERE login_sessions.id = replaced.replaces \
        ), opened AS ( \
          INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, \
            authenticated_at, last_used_at, expires_at) \
          SELECT session_id, ready.user_id, family, chain, address, session_hash, browser, authenticated_at, \
            authenticated_at, session_expires_at \
          FROM granted JOIN ready ON ready.id = granted.id WHERE session_id IS NOT NULL \
        )"
}

impl Act for StoreLogins<'_> {
    type Answer = (SqlUuid, SqlUuid);
    const TEXT: ActText = ActText::Many { done: "granted", answer: " SELECT id, user_id FROM granted" };
}
