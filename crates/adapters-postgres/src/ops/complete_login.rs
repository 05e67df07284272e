//! A login: the grant first, because its key is the guard; then, for a wallet that nobody has, the wallet and its user.

use countersign_domain::id::UserId;
use countersign_ports::{CompleteLogin, LoginCompleted};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::schema::grants;
use crate::statement::statement;

statement! {
    /// Gives the user if the grant is new. If another first login of the wallet was faster, or somebody who linked it, the
    /// wallet's key is taken, which fails the whole statement: the grant would name a user who has no wallet.
    ///
    /// A known wallet is locked against going away: either unlinking waits for this login, sees its grant and revokes
    /// it, or this login waits for the unlinking and finds the wallet to be nobody's. Logins do not wait for each other. This
    /// holds because a wallet only changes hands as a row that goes and another that comes; an update of `user_id` would not
    /// be noticed here. The lock is a mark in the wallet's row: up to 1 KB of log for a login, most of it for the first one on a
    /// page after a checkpoint, and no difference that could be measured in logins per second.
    StoreLogin<'a> {
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        new_user: Uuid as SqlUuid,
        redirect_uri: &'a str as Text,
        scope: String as Text,
        nonce: Option<&'a str> as Nullable<Text>,
        code_challenge: Option<&'a [u8]> as Nullable<Binary>,
        code_hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
        code_expires_at: OffsetDateTime as Timestamptz,
        forget_after: OffsetDateTime as Timestamptz,
    } -> (SqlUuid) = "\
        WITH known AS ( \
          SELECT user_id FROM wallets WHERE family = :family AND address = :address FOR KEY SHARE \
        ), granted AS ( \
          INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, \
            code_challenge, code_hash, authenticated_at, code_expires_at, forget_after) \
          VALUES (:id, :client, COALESCE((SELECT user_id FROM known), :new_user), :family, :chain, :address, \
            :redirect_uri, :scope, :nonce, :code_challenge, :code_hash, :now, :code_expires_at, :forget_after) \
          ON CONFLICT (id) DO NOTHING \
          RETURNING user_id \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT :family, :address, user_id, :now, :chain FROM granted WHERE NOT EXISTS (SELECT FROM known) \
          RETURNING user_id \
        ), born AS ( \
          INSERT INTO users (id, created_at) SELECT user_id, :now FROM linked \
        ) \
        SELECT user_id FROM granted"
}

/// How often a login is tried. After the first time the wallet is known, or somebody unlinked it just then.
const TRIES: u32 = 4;

pub(crate) fn complete_login(
    connection: &mut PgConnection,
    command: &CompleteLogin,
) -> OpResult<LoginCompleted> {
    let mut tries = 1;
    let stored = loop {
        match store(connection, command) {
            // The other one has ended, or the key would not be taken.
            Err(error) if error.is_taken_key() && tries < TRIES => tries += 1,
            stored => break stored?,
        }
    };
    if let Some(user) = stored {
        return Ok(LoginCompleted::CodeIssued { user: UserId::from_uuid(user) });
    }
    let present: Option<(Uuid, Vec<u8>)> = grants::table
        .find(command.id.as_uuid())
        .select((grants::user_id, grants::code_hash))
        .first(connection)
        .optional()?;
    Ok(match present {
        Some((user, hash)) if hash == command.code_hash.as_bytes() => {
            LoginCompleted::CodeIssued { user: UserId::from_uuid(user) }
        }
        Some(_) | None => LoginCompleted::ChallengeSpent,
    })
}

fn store(connection: &mut PgConnection, command: &CompleteLogin) -> OpResult<Option<Uuid>> {
    let statement = StoreLogin {
        id: command.id.as_uuid(),
        client: command.client.as_uuid(),
        family: &command.account.family,
        chain: &command.account.chain,
        address: &command.account.address,
        new_user: command.new_user.as_uuid(),
        redirect_uri: command.redirect_uri.as_str(),
        scope: command.scope.to_string(),
        nonce: command.nonce.as_deref(),
        code_challenge: command.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
        code_hash: command.code_hash.as_bytes(),
        now: command.now,
        code_expires_at: command.code_expires_at,
        forget_after: command.forget_after,
    };
    let mut users: Vec<(Uuid,)> = statement.load(connection)?;
    Ok(users.pop().map(|(user,)| user))
}
