//! What can no longer be needed is deleted.

use countersign_ports::{PurgeExpired, Purged, REQUESTS_REMEMBERED};
use countersign_sql::columns::{At, BigInt, Bool, Moment};
use countersign_sql::schema::{
    clients, device_requests, grants, login_sessions, pushed_requests, spent_challenges, spent_proofs, tokens,
};
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Deletes grants, tokens, spent challenges, spent proofs, login sessions, both kinds of requests, requests of
/// admin keys and old secrets of clients, the oldest first, each up to the limit. A grant that is due for review but has been extended since only gets a
/// new time of review.
pub(crate) fn purge_expired(
    connection: &mut SqliteConnection,
    command: &PurgeExpired,
) -> Result<Purged, SqliteError> {
    let begun_before = At(command.before.kept_for(REQUESTS_REMEMBERED).time());
    let before = At(command.before.time());
    let pushed_before = At(command.pushed_before.time());
    let limit = i64::from(command.limit);
    let rows = PurgeGrants { before, limit }.execute(connection)?
        + PurgeTokens { before, limit }.execute(connection)?
        + PurgeSpent { before, limit }.execute(connection)?
        + PurgeProofs { before, limit }.execute(connection)?
        + PurgeSessions { before, limit }.execute(connection)?
        + PurgePushed { before: pushed_before, limit }.execute(connection)?
        + PurgeDevices { before, limit }.execute(connection)?
        + PurgeRequests { before: begun_before, limit }.execute(connection)?;
    // Before the secrets, which tell them apart.
    ForgetSecrets { before, limit }.execute(connection)?;
    let rows = rows + PurgeSecrets { before, limit }.execute(connection)?;
    ReviewGrants { before, limit }.execute(connection)?;
    PurgeLiving { before, limit }.execute(connection)?;
    let old_grants = grants::table.filter(grants::review_at.lt(before));
    let old_tokens = tokens::table.filter(tokens::forget_after.lt(before));
    let old_spent = spent_challenges::table.filter(spent_challenges::forget_after.lt(before));
    let old_proofs = spent_proofs::table.filter(spent_proofs::forget_after.lt(before));
    let old_sessions = login_sessions::table.filter(login_sessions::expires_at.lt(before));
    let old_pushed = pushed_requests::table.filter(pushed_requests::expires_at.lt(pushed_before));
    let old_secrets = clients::table.filter(clients::old_secret_expires_at.lt(before));
    let old_devices = device_requests::table.filter(device_requests::forget_after.lt(before));
    let more = diesel::select(exists(old_grants)).get_result(connection)?
        || diesel::select(exists(old_tokens)).get_result(connection)?
        || diesel::select(exists(old_spent)).get_result(connection)?
        || diesel::select(exists(old_proofs)).get_result(connection)?
        || diesel::select(exists(old_sessions)).get_result(connection)?
        || diesel::select(exists(old_pushed)).get_result(connection)?
        || diesel::select(exists(old_devices)).get_result(connection)?
        || diesel::select(exists(old_secrets)).get_result(connection)?
        || OldRequests { before: begun_before }.get_result(connection)?
        || OldestLivingIsOld { before }.get_result(connection)?;
    Ok(Purged { rows: u64::try_from(rows).unwrap_or(u64::MAX), more })
}

statement! {
    PurgeGrants {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE review_at < :before ORDER BY review_at LIMIT :limit) \
        AND forget_after < :before"
}

statement! {
    /// Grants that were due and were not purged live longer by now.
    ReviewGrants {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        UPDATE grants SET review_at = forget_after \
        WHERE id IN (SELECT id FROM grants WHERE review_at < :before ORDER BY review_at LIMIT :limit) AND forget_after >= :before"
}

statement! {
    PurgeTokens {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE forget_after < :before ORDER BY forget_after LIMIT :limit)"
}

statement! {
    /// These rows only copy what `tokens` has, so they are not counted. They lie in the order in which they
    /// were created. That is close enough to the order in which they expire, so no index is needed: one token
    /// that lives longer keeps those after it for as long.
    PurgeLiving {
        limit: i64 as BigInt,
        before: At as Moment,
    } = "\
        DELETE FROM access_tokens WHERE place IN (SELECT place FROM access_tokens ORDER BY place LIMIT :limit) AND expires_at < :before"
}

statement! {
    OldestLivingIsOld {
        before: At as Moment,
    } -> Bool = "\
        SELECT coalesce((SELECT expires_at < :before FROM access_tokens ORDER BY place LIMIT 1), FALSE)"
}

statement! {
    PurgeSpent {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM spent_challenges WHERE id IN \
        (SELECT id FROM spent_challenges WHERE forget_after < :before ORDER BY forget_after LIMIT :limit)"
}

statement! {
    PurgeProofs {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM spent_proofs WHERE digest IN \
        (SELECT digest FROM spent_proofs WHERE forget_after < :before ORDER BY forget_after LIMIT :limit)"
}

statement! {
    PurgeSessions {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM login_sessions WHERE id IN \
        (SELECT id FROM login_sessions WHERE expires_at < :before ORDER BY expires_at LIMIT :limit)"
}

statement! {
    PurgePushed {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM pushed_requests WHERE id IN \
        (SELECT id FROM pushed_requests WHERE expires_at < :before ORDER BY expires_at LIMIT :limit)"
}

statement! {
    PurgeDevices {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM device_requests WHERE id IN \
        (SELECT id FROM device_requests WHERE forget_after < :before ORDER BY forget_after LIMIT :limit)"
}

statement! {
    /// Whatever became of the keys that began them.
    PurgeRequests {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM admin_requests WHERE (key_id, name) IN \
        (SELECT key_id, name FROM admin_requests WHERE begun_at < :before ORDER BY begun_at LIMIT :limit)"
}

statement! {
    OldRequests {
        before: At as Moment,
    } -> Bool = "SELECT EXISTS (SELECT 1 FROM admin_requests WHERE begun_at < :before)"
}

statement! {
    /// What operators know about these secrets. The rows are not counted.
    ForgetSecrets {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM client_secrets WHERE (client_id, hash) IN \
        (SELECT id, old_secret_hash FROM clients WHERE old_secret_expires_at < :before \
        ORDER BY old_secret_expires_at, id LIMIT :limit)"
}

statement! {
    PurgeSecrets {
        before: At as Moment,
        limit: i64 as BigInt,
    } = "\
        UPDATE clients SET old_secret_hash = NULL, old_secret_expires_at = NULL WHERE id IN \
        (SELECT id FROM clients WHERE old_secret_expires_at < :before ORDER BY old_secret_expires_at, id LIMIT :limit)"
}
