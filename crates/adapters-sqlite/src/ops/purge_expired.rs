//! Forgetting what nothing can need any more.

use countersign_ports::{PurgeExpired, Purged};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::query_builder::Query;
use diesel::sql_types::{BigInt, Bool};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::{
    device_requests, grants, login_sessions, pushed_requests, spent_challenges, spent_proofs, tokens,
};

/// Removes grants, tokens, spent challenges, spent proofs, login sessions and requests of both kinds, the oldest first, each up to
/// the limit. Of the grants whose time of review has come, those that live longer by now are only given another.
pub(crate) fn purge_expired(
    connection: &mut SqliteConnection,
    command: &PurgeExpired,
) -> Result<Purged, SqliteError> {
    let before = micros(command.before);
    let pushed_before = micros(command.pushed_before);
    let limit = i64::from(command.limit);
    let rows = PurgeGrants { due_before: before, limit, before }.execute(connection)?
        + PurgeTokens { before, limit }.execute(connection)?
        + PurgeSpent { before, limit }.execute(connection)?
        + PurgeProofs { before, limit }.execute(connection)?
        + PurgeSessions { before, limit }.execute(connection)?
        + PurgePushed { before: pushed_before, limit }.execute(connection)?
        + PurgeDevices { before, limit }.execute(connection)?;
    ReviewGrants { due_before: before, limit, before }.execute(connection)?;
    PurgeLiving { limit, before }.execute(connection)?;
    let old_grants = grants::table.filter(grants::review_at.lt(before));
    let old_tokens = tokens::table.filter(tokens::forget_after.lt(before));
    let old_spent = spent_challenges::table.filter(spent_challenges::forget_after.lt(before));
    let old_proofs = spent_proofs::table.filter(spent_proofs::forget_after.lt(before));
    let old_sessions = login_sessions::table.filter(login_sessions::expires_at.lt(before));
    let old_pushed = pushed_requests::table.filter(pushed_requests::expires_at.lt(pushed_before));
    let old_devices = device_requests::table.filter(device_requests::forget_after.lt(before));
    let more = diesel::select(exists(old_grants)).get_result(connection)?
        || diesel::select(exists(old_tokens)).get_result(connection)?
        || diesel::select(exists(old_spent)).get_result(connection)?
        || diesel::select(exists(old_proofs)).get_result(connection)?
        || diesel::select(exists(old_sessions)).get_result(connection)?
        || diesel::select(exists(old_pushed)).get_result(connection)?
        || diesel::select(exists(old_devices)).get_result(connection)?
        || OldestLivingIsOld { before }.get_result(connection)?;
    Ok(Purged { rows: u64::try_from(rows).unwrap_or(u64::MAX), more })
}

statement! {
    struct PurgeGrants {
        due_before: i64 as BigInt,
        limit: i64 as BigInt,
        before: i64 as BigInt,
    }
    "DELETE FROM grants WHERE id IN (SELECT id FROM grants WHERE review_at < ? ORDER BY review_at LIMIT ?) \
     AND forget_after < ?"
}

statement! {
    /// Those that are due and were not purged live on.
    struct ReviewGrants {
        due_before: i64 as BigInt,
        limit: i64 as BigInt,
        before: i64 as BigInt,
    }
    "UPDATE grants SET review_at = forget_after \
     WHERE id IN (SELECT id FROM grants WHERE review_at < ? ORDER BY review_at LIMIT ?) AND forget_after >= ?"
}

statement! {
    struct PurgeTokens {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE forget_after < ? ORDER BY forget_after LIMIT ?)"
}

statement! {
    /// They are no things of their own, and are not counted. They lie in the order of their birth, which is near enough to that of
    /// their ends to need no index: a token that lives longer than those after it keeps them for as long.
    struct PurgeLiving {
        limit: i64 as BigInt,
        before: i64 as BigInt,
    }
    "DELETE FROM access_tokens WHERE place IN (SELECT place FROM access_tokens ORDER BY place LIMIT ?) AND expires_at < ?"
}

statement! {
    struct OldestLivingIsOld {
        before: i64 as BigInt,
    }
    "SELECT coalesce((SELECT expires_at < ? FROM access_tokens ORDER BY place LIMIT 1), FALSE)"
}

impl Query for OldestLivingIsOld {
    type SqlType = Bool;
}

statement! {
    struct PurgeSpent {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM spent_challenges WHERE id IN \
     (SELECT id FROM spent_challenges WHERE forget_after < ? ORDER BY forget_after LIMIT ?)"
}

statement! {
    struct PurgeProofs {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM spent_proofs WHERE digest IN \
     (SELECT digest FROM spent_proofs WHERE forget_after < ? ORDER BY forget_after LIMIT ?)"
}

statement! {
    struct PurgeSessions {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM login_sessions WHERE id IN \
     (SELECT id FROM login_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)"
}

statement! {
    struct PurgePushed {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM pushed_requests WHERE id IN \
     (SELECT id FROM pushed_requests WHERE expires_at < ? ORDER BY expires_at LIMIT ?)"
}

statement! {
    struct PurgeDevices {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    }
    "DELETE FROM device_requests WHERE id IN \
     (SELECT id FROM device_requests WHERE forget_after < ? ORDER BY forget_after LIMIT ?)"
}
