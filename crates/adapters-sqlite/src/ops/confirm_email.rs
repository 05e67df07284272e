//! A person followed the link in the mail.

use countersign_ports::{ConfirmEmail, EmailConfirmed, SharedAddress};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool};

use super::record_event::record_about;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::emails;
use crate::statement::statement;

/// Guards: the link is the stored one and has not expired, and nobody else confirmed the address, unless
/// sharing it is agreed. The guards are in the `WHERE`. Which of them refused is read afterwards; the single
/// writer makes sure that the answer is still true.
pub(crate) fn confirm_email(
    connection: &mut SqliteConnection,
    command: &ConfirmEmail,
) -> Result<EmailConfirmed, SqliteError> {
    let (user, now) = (command.user.as_uuid(), micros(command.now));
    let verify = VerifyEmail {
        user_id: user.as_bytes(),
        confirmation_hash: command.hash.as_bytes(),
        now,
        shared: command.shared == SharedAddress::Agreed,
    };
    if verify.execute(connection)? == 1 {
        record_about(connection, command.event.as_deref(), command.user)?;
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
    VerifyEmail<'a> {
        now: i64 as BigInt,
        user_id: &'a [u8] as Binary,
        confirmation_hash: &'a [u8] as Binary,
        shared: bool as Bool,
    } = "\
        UPDATE emails SET verified_at = :now, confirmation_hash = NULL, confirmation_expires_at = NULL \
        WHERE user_id = :user_id AND confirmation_hash = :confirmation_hash AND confirmation_expires_at > :now \
        AND (:shared OR NOT EXISTS (SELECT 1 FROM emails AS others WHERE lower(others.address) = lower(emails.address) \
        AND others.verified_at IS NOT NULL AND others.user_id <> emails.user_id))"
}
