//! A person followed the link in the mail.

use countersign_ports::ConfirmEmail;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;

/// Guard: the link is the one on file and has not expired. It is in the `WHERE`.
pub(crate) fn confirm_email(
    connection: &mut SqliteConnection,
    command: &ConfirmEmail,
) -> Result<bool, SqliteError> {
    let (user, now) = (command.user.as_uuid(), micros(command.now));
    let verify = VerifyEmail {
        verified_at: now,
        user_id: user.as_bytes(),
        confirmation_hash: command.hash.as_bytes(),
        now,
    };
    Ok(verify.execute(connection)? == 1)
}

statement! {
    struct VerifyEmail<'a> {
        verified_at: i64 as BigInt,
        user_id: &'a [u8] as Binary,
        confirmation_hash: &'a [u8] as Binary,
        now: i64 as BigInt,
    }
    "UPDATE emails SET verified_at = ?, confirmation_hash = NULL, confirmation_expires_at = NULL \
     WHERE user_id = ? AND confirmation_hash = ? AND confirmation_expires_at > ?"
}
