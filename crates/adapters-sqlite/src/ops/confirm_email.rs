//! A person followed the link in the mail.

use countersign_ports::{ConfirmEmail, EmailConfirmed, SharedAddress};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool};

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::emails;

/// Guards: the link is the one on file and has not expired; nobody else confirmed the address, unless that is agreed to. They are in the
/// `WHERE`; which of them stood against it is read afterwards, and the one writer keeps it true.
pub(crate) fn confirm_email(
    connection: &mut SqliteConnection,
    command: &ConfirmEmail,
) -> Result<EmailConfirmed, SqliteError> {
    let (user, now) = (command.user.as_uuid(), micros(command.now));
    let verify = VerifyEmail {
        verified_at: now,
        user_id: user.as_bytes(),
        confirmation_hash: command.hash.as_bytes(),
        now,
        shared: command.shared == SharedAddress::Agreed,
    };
    if verify.execute(connection)? == 1 {
        return Ok(EmailConfirmed::Confirmed);
    }
    let link_is_good = emails::table
        .find(user.as_bytes().as_slice())
        .filter(emails::confirmation_hash.eq(command.hash.as_bytes().as_slice()))
        .filter(emails::confirmation_expires_at.gt(now))
        .count()
        .get_result::<i64>(connection)?
        == 1;
    Ok(if link_is_good { EmailConfirmed::SharedAddress } else { EmailConfirmed::LinkInvalid })
}

statement! {
    struct VerifyEmail<'a> {
        verified_at: i64 as BigInt,
        user_id: &'a [u8] as Binary,
        confirmation_hash: &'a [u8] as Binary,
        now: i64 as BigInt,
        shared: bool as Bool,
    }
    "UPDATE emails SET verified_at = ?, confirmation_hash = NULL, confirmation_expires_at = NULL \
     WHERE user_id = ? AND confirmation_hash = ? AND confirmation_expires_at > ? \
       AND (? OR NOT EXISTS (SELECT 1 FROM emails AS others WHERE lower(others.address) = lower(emails.address) \
         AND others.verified_at IS NOT NULL AND others.user_id <> emails.user_id))"
}
