//! What can no longer be needed is deleted.

use countersign_ports::{PurgeExpired, Purged, REQUESTS_REMEMBERED};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Timestamptz};
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn purge_expired(connection: &mut PgConnection, command: &PurgeExpired) -> OpResult<Purged> {
    let PurgeExpired { before, since, pushed_before, pushed_since, limit } = *command;
    let begun_before = before.kept_for(REQUESTS_REMEMBERED).time();
    let (before, pushed_before) = (before.time(), pushed_before.time());
    let statement = Purge { before, since, pushed_before, pushed_since, begun_before, limit: limit.into() };
    let (rows, more): (i64, bool) = statement.get_result(connection)?;
    Ok(Purged { rows: rows.unsigned_abs(), more })
}

statement! {
    /// While a session reads an old state (`pg_dump`), what was deleted stays in the tables and in their
    /// indexes. So a step begins where the steps before it ended, and does not pass all of that again.
    ///
    /// Rows that another session has locked are skipped until upkeep begins with the oldest again. So a code
    /// that is being redeemed keeps its grant, and two purges at once do not wait for each other. A grant
    /// that is due for review but has been extended since only gets a new time of review. When a redeemed
    /// grant is deleted, its user is marked as known. For that the user is locked first; where another
    /// session has that lock, the grant is skipped, too. Of a client whose old secret has ended, that secret
    /// alone is deleted.
    Purge {
        before: OffsetDateTime as Timestamptz,
        since: OffsetDateTime as Timestamptz,
        pushed_before: OffsetDateTime as Timestamptz,
        pushed_since: OffsetDateTime as Timestamptz,
        begun_before: OffsetDateTime as Timestamptz,
        limit: i64 as BigInt,
    } -> (BigInt, Bool) = "\
        WITH due_grants AS MATERIALIZED ( \
          SELECT id, user_id, redeemed_at, forget_after FROM grants WHERE review_at >= :since AND review_at < :before \
          ORDER BY review_at, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), owners AS MATERIALIZED ( \
          SELECT DISTINCT user_id FROM due_grants WHERE redeemed_at IS NOT NULL AND forget_after < :before \
        ), untold AS MATERIALIZED ( \
          SELECT owners.user_id AS id FROM owners CROSS JOIN LATERAL ( \
            SELECT FROM users WHERE users.id = owners.user_id AND untold_since IS NOT NULL OFFSET 0 \
          ) AS asked \
        ), held AS MATERIALIZED ( \
          SELECT untold.id FROM untold CROSS JOIN LATERAL ( \
            SELECT FROM users WHERE users.id = untold.id OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS locked \
        ), known AS ( \
          UPDATE users SET untold_since = NULL FROM held WHERE users.id = held.id \
        ), old_tokens AS MATERIALIZED ( \
          SELECT id FROM tokens WHERE forget_after >= :since AND forget_after < :before \
          ORDER BY forget_after, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_spent AS MATERIALIZED ( \
          SELECT id FROM spent_challenges WHERE forget_after >= :since AND forget_after < :before \
          ORDER BY forget_after, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_proofs AS MATERIALIZED ( \
          SELECT digest FROM spent_proofs WHERE forget_after >= :since AND forget_after < :before \
          ORDER BY forget_after, digest LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_sessions AS MATERIALIZED ( \
          SELECT id FROM login_sessions WHERE expires_at >= :since AND expires_at < :before \
          ORDER BY expires_at, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_pushed AS MATERIALIZED ( \
          SELECT id FROM pushed_requests WHERE expires_at >= :pushed_since AND expires_at < :pushed_before \
          ORDER BY expires_at, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_devices AS MATERIALIZED ( \
          SELECT id FROM device_requests WHERE forget_after >= :since AND forget_after < :before \
          ORDER BY forget_after, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), old_secrets AS MATERIALIZED ( \
          SELECT id, old_secret_hash FROM clients WHERE old_secret_expires_at >= :since AND old_secret_expires_at < :before \
          ORDER BY old_secret_expires_at, id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED \
        ), old_requests AS MATERIALIZED ( \
          SELECT key_id, name FROM admin_requests WHERE begun_at < :begun_before \
          ORDER BY begun_at, key_id, name LIMIT :limit FOR UPDATE SKIP LOCKED \
        ), reviewed_grants AS ( \
          UPDATE grants SET review_at = due_grants.forget_after FROM due_grants \
          WHERE grants.id = due_grants.id AND due_grants.forget_after >= :before \
        ), gone_grants AS ( \
          DELETE FROM grants USING due_grants \
          WHERE grants.id = due_grants.id AND due_grants.forget_after < :before \
          AND (due_grants.redeemed_at IS NULL \
            OR due_grants.user_id NOT IN (SELECT id FROM untold) \
            OR due_grants.user_id IN (SELECT id FROM held)) \
          RETURNING grants.id \
        ), gone_tokens AS ( \
          DELETE FROM tokens USING old_tokens WHERE tokens.id = old_tokens.id RETURNING tokens.id \
        ), gone_spent AS ( \
          DELETE FROM spent_challenges USING old_spent WHERE spent_challenges.id = old_spent.id \
          RETURNING spent_challenges.id \
        ), gone_proofs AS ( \
          DELETE FROM spent_proofs USING old_proofs WHERE spent_proofs.digest = old_proofs.digest \
          RETURNING spent_proofs.digest \
        ), gone_sessions AS ( \
          DELETE FROM login_sessions USING old_sessions WHERE login_sessions.id = old_sessions.id \
          RETURNING login_sessions.id \
        ), gone_pushed AS ( \
          DELETE FROM pushed_requests USING old_pushed WHERE pushed_requests.id = old_pushed.id \
          RETURNING pushed_requests.id \
        ), gone_devices AS ( \
          DELETE FROM device_requests USING old_devices WHERE device_requests.id = old_devices.id \
          RETURNING device_requests.id \
        ), gone_requests AS ( \
          DELETE FROM admin_requests USING old_requests \
          WHERE admin_requests.key_id = old_requests.key_id AND admin_requests.name = old_requests.name \
          RETURNING admin_requests.name \
        ), gone_secrets AS ( \
          UPDATE clients SET old_secret_hash = NULL, old_secret_expires_at = NULL FROM old_secrets \
          WHERE clients.id = old_secrets.id RETURNING clients.id \
        ), gone_records AS ( \
          DELETE FROM client_secrets USING old_secrets \
          WHERE client_secrets.client_id = old_secrets.id AND client_secrets.hash = old_secrets.old_secret_hash \
        ) \
        SELECT (SELECT count(*) FROM gone_grants) + (SELECT count(*) FROM gone_tokens) \
            + (SELECT count(*) FROM gone_spent) + (SELECT count(*) FROM gone_proofs) \
            + (SELECT count(*) FROM gone_sessions) \
            + (SELECT count(*) FROM gone_pushed) + (SELECT count(*) FROM gone_devices) \
            + (SELECT count(*) FROM gone_requests) + (SELECT count(*) FROM gone_secrets), \
          EXISTS (SELECT FROM grants WHERE review_at >= :since AND review_at < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM tokens WHERE forget_after >= :since AND forget_after < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM spent_challenges WHERE forget_after >= :since AND forget_after < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM spent_proofs WHERE forget_after >= :since AND forget_after < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM login_sessions WHERE expires_at >= :since AND expires_at < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM pushed_requests WHERE expires_at >= :pushed_since AND expires_at < :pushed_before OFFSET :limit) \
          OR EXISTS (SELECT FROM admin_requests WHERE begun_at < :begun_before OFFSET :limit) \
          OR EXISTS (SELECT FROM device_requests WHERE forget_after >= :since AND forget_after < :before OFFSET :limit) \
          OR EXISTS (SELECT FROM clients WHERE old_secret_expires_at >= :since AND old_secret_expires_at < :before OFFSET :limit)"
}
