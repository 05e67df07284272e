//! The statements over arrays. Each runs a whole batch, and is prepared once per connection.
//!
//! `IS NOT DISTINCT FROM` and `COALESCE` keep conditions out of the plan, so that rows are found by their
//! key, whatever other indexes exist. Otherwise, a plan from the time when the tables were empty would read
//! all of a partial index.

use diesel::PgConnection;
use diesel::pg::Pg;
use diesel::sql_types::{Array, Binary, Integer, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::statement::statement;

statement! {
    InsertClients on Pg, PgConnection {
        ids: Vec<Uuid> as Array<SqlUuid>,
        secret_hashes: Vec<&'a [u8]> as Array<Binary>,
        token_hashes: Vec<&'a [u8]> as Array<Binary>,
        names: Vec<&'a str> as Array<Text>,
        redirect_uris: Vec<&'a str> as Array<Text>,
        now: OffsetDateTime as Timestamptz,
    } -> (SqlUuid, SqlUuid) = "\
        WITH i AS (SELECT * FROM unnest(?, ?, ?, ?, ?) AS i (id, secret_hash, token_hash, name, redirect_uris)) \
        INSERT INTO clients (id, created_at, origin, auth_method, secret_hash, registration_token_hash, name, \
          redirect_uris, scopes, grant_types, contacts, post_logout_redirect_uris) \
        SELECT id, ?, 'open', 'client_secret_post', secret_hash, token_hash, name, redirect_uris, 'profile', \
          'authorization_code refresh_token', '', '' FROM i ON CONFLICT (id) DO NOTHING RETURNING id, id"
}

statement! {
    StoreLogins on Pg, PgConnection {
        ids: Vec<Uuid> as Array<SqlUuid>,
        clients: Vec<Uuid> as Array<SqlUuid>,
        new_users: Vec<Uuid> as Array<SqlUuid>,
        addresses: Vec<&'a str> as Array<Text>,
        redirect_uris: Vec<&'a str> as Array<Text>,
        code_hashes: Vec<&'a [u8]> as Array<Binary>,
        now: OffsetDateTime as Timestamptz,
        code_expires_at: OffsetDateTime as Timestamptz,
        forget_after: OffsetDateTime as Timestamptz,
        review_at: OffsetDateTime as Timestamptz,
        linked_at: OffsetDateTime as Timestamptz,
        born_at: OffsetDateTime as Timestamptz,
        bits: i32 as Integer,
        granted_at: OffsetDateTime as Timestamptz,
        used_at: OffsetDateTime as Timestamptz,
    } -> (SqlUuid, SqlUuid) = "\
        WITH i AS ( \
          SELECT * FROM unnest(?, ?, ?, ?, ?, ?) AS i (id, client_id, new_user, address, redirect_uri, code_hash) \
        ), known AS ( \
          SELECT i.*, w.user_id FROM i LEFT JOIN wallets w ON w.family = 'eip155' AND w.address = i.address \
        ), granted AS ( \
          INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
            authenticated_at, code_expires_at, forget_after, review_at) \
          SELECT id, client_id, COALESCE(user_id, new_user), 'eip155', 'eip155:1', address, redirect_uri, \
            'profile', code_hash, ?, ?, ?, ? FROM known ON CONFLICT (id) DO NOTHING RETURNING id, client_id, user_id \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT DISTINCT 'eip155', address, new_user, ?, 'eip155:1' FROM known WHERE user_id IS NULL \
          ON CONFLICT DO NOTHING RETURNING user_id \
        ), born AS ( \
          INSERT INTO users (id, created_at) SELECT user_id, ? FROM linked ON CONFLICT DO NOTHING \
        ), consented AS ( \
          INSERT INTO consents (user_id, client_id, scopes, granted_at, last_used_at) \
          SELECT DISTINCT user_id, client_id, ?, ?::timestamptz, ?::timestamptz FROM granted \
          ON CONFLICT (user_id, client_id) DO UPDATE \
          SET scopes = consents.scopes | excluded.scopes, last_used_at = excluded.last_used_at \
        ) \
        SELECT id, user_id FROM granted"
}

statement! {
    Redeem on Pg, PgConnection {
        grants: Vec<Uuid> as Array<SqlUuid>,
        clients: Vec<Uuid> as Array<SqlUuid>,
        code_hashes: Vec<&'a [u8]> as Array<Binary>,
        redirect_uris: Vec<&'a str> as Array<Text>,
        tokens: Vec<Uuid> as Array<SqlUuid>,
        access_hashes: Vec<&'a [u8]> as Array<Binary>,
        refresh_hashes: Vec<&'a [u8]> as Array<Binary>,
        redeemed_at: OffsetDateTime as Timestamptz,
        forget_grant_after: OffsetDateTime as Timestamptz,
        now: OffsetDateTime as Timestamptz,
        issued_at: OffsetDateTime as Timestamptz,
        access_expires_at: OffsetDateTime as Timestamptz,
        refresh_expires_at: OffsetDateTime as Timestamptz,
        forget_token_after: OffsetDateTime as Timestamptz,
    } -> (SqlUuid, SqlUuid) = "\
        WITH i AS ( \
          SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?) \
          AS i (grant_id, client_id, code_hash, redirect_uri, token, access_hash, refresh_hash) \
        ), redeemed AS ( \
          UPDATE grants g SET redeemed_at = ?, newest_token = i.token, forget_after = ? FROM i \
          WHERE g.id = i.grant_id AND g.code_hash = i.code_hash AND g.client_id IS NOT DISTINCT FROM i.client_id \
            AND g.redirect_uri = i.redirect_uri AND g.code_expires_at > ? AND g.redeemed_at IS NULL \
            AND COALESCE(g.revoked_at, 'infinity') = 'infinity' \
          RETURNING g.id, g.user_id, i.token, i.access_hash, i.refresh_hash \
        ), stored AS ( \
          INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
            refresh_expires_at, forget_after) \
          SELECT token, id, 'profile', ?, access_hash, ?, refresh_hash, ?, ? FROM redeemed \
        ) \
        SELECT token, user_id FROM redeemed"
}

statement! {
    Rotate on Pg, PgConnection {
        presented: Vec<Uuid> as Array<SqlUuid>,
        clients: Vec<Uuid> as Array<SqlUuid>,
        presented_hashes: Vec<&'a [u8]> as Array<Binary>,
        tokens: Vec<Uuid> as Array<SqlUuid>,
        access_hashes: Vec<&'a [u8]> as Array<Binary>,
        refresh_hashes: Vec<&'a [u8]> as Array<Binary>,
        forget_grant_after: OffsetDateTime as Timestamptz,
        now: OffsetDateTime as Timestamptz,
        issued_at: OffsetDateTime as Timestamptz,
        access_expires_at: OffsetDateTime as Timestamptz,
        refresh_expires_at: OffsetDateTime as Timestamptz,
        forget_token_after: OffsetDateTime as Timestamptz,
    } -> (SqlUuid, SqlUuid) = "\
        WITH i AS ( \
          SELECT * FROM unnest(?, ?, ?, ?, ?, ?) \
          AS i (presented, client_id, presented_hash, token, access_hash, refresh_hash) \
        ), rotated AS ( \
          UPDATE grants g SET newest_token = i.token, forget_after = ? FROM i JOIN tokens t \
            ON t.id = i.presented AND t.refresh_hash = i.presented_hash AND t.refresh_expires_at > ? \
          WHERE g.id = t.grant_id AND g.newest_token = i.presented AND g.client_id IS NOT DISTINCT FROM i.client_id \
            AND COALESCE(g.revoked_at, 'infinity') = 'infinity' \
          RETURNING g.id, g.user_id, i.presented, i.token, i.access_hash, i.refresh_hash \
        ), stored AS ( \
          INSERT INTO tokens (id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, \
            refresh_hash, refresh_expires_at, forget_after) \
          SELECT token, id, presented, 'profile', ?, access_hash, ?, refresh_hash, ?, ? FROM rotated \
        ) \
        SELECT token, user_id FROM rotated"
}

statement! {
    RevokeAccess on Pg, PgConnection {
        now: OffsetDateTime as Timestamptz,
        ids: &'a [Uuid] as Array<SqlUuid>,
    } -> (SqlUuid, SqlUuid) = "\
        UPDATE tokens SET access_revoked_at = ? WHERE id = ANY(?) AND access_revoked_at IS NULL RETURNING id, id"
}

statement! {
    FindAccess on Pg, PgConnection {
        ids: &'a [Uuid] as Array<SqlUuid>,
    } -> (SqlUuid, SqlUuid, SqlUuid, SqlUuid, Text, Text, Text, Timestamptz, Timestamptz) = "\
        SELECT t.id, g.id, g.user_id, g.client_id, g.chain, g.address, t.scope, t.issued_at, t.access_expires_at \
        FROM tokens t JOIN grants g ON g.id = t.grant_id \
        WHERE t.id = ANY(?) AND t.access_revoked_at IS NULL \
        AND COALESCE(g.revoked_at, 'infinity') = 'infinity'"
}

statement! {
    LivesOn on Pg, PgConnection {
        ids: &'a [Uuid] as Array<SqlUuid>,
        grants: &'a [Uuid] as Array<SqlUuid>,
    } -> (SqlUuid) = "\
        SELECT asked.id FROM unnest(?, ?) AS asked (id, grant_id) \
        WHERE (SELECT TRUE FROM grants g WHERE g.id = asked.grant_id AND g.revoked_at IS NOT NULL) IS NULL \
        AND (SELECT TRUE FROM tokens t WHERE t.id = asked.id AND t.access_revoked_at IS NOT NULL) IS NULL"
}

statement! {
    AllClients on Pg, PgConnection {
        after: &'a Uuid as SqlUuid,
    } -> (SqlUuid, Binary) = "SELECT id, secret_hash FROM clients WHERE id > ? AND secret_hash IS NOT NULL"
}
