//! A person followed the link in the mail.

use countersign_ports::{ConfirmEmail, EmailConfirmed, SharedAddress};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record_about;
use crate::error::OpResult;
use crate::schema::emails;
use crate::statement::statement;

pub(crate) fn confirm_email(
    connection: &mut PgConnection,
    command: &ConfirmEmail,
) -> OpResult<EmailConfirmed> {
    let user = command.user.as_uuid();
    let statement = VerifyEmail {
        user,
        hash: command.hash.as_bytes(),
        now: command.now,
        shared: command.shared == SharedAddress::Agreed,
    };
    connection.transaction(|connection| {
        LockAddress { user }.execute(connection)?;
        if statement.execute(connection)? == 1 {
            record_about(connection, command.event.as_deref(), command.user)?;
            return Ok(EmailConfirmed::Confirmed);
        }
        let link_is_good = emails::table
            .find(user)
            .filter(emails::confirmation_hash.eq(command.hash.as_bytes().as_slice()))
            .filter(emails::confirmation_expires_at.gt(command.now))
            .count()
            .get_result::<i64>(connection)?
            == 1;
        Ok(if link_is_good { EmailConfirmed::SharedAddress } else { EmailConfirmed::LinkInvalid })
    })
}

statement! {
    /// Makes other confirmations of the same address wait until this transaction ends, so that each sees the
    /// other's result.
    LockAddress { user: Uuid as SqlUuid } = "\
        SELECT pg_advisory_xact_lock(hashtextextended('countersign email ' || lower(address), 0)) \
        FROM emails WHERE user_id = :user"
}

statement! {
    /// One row if the link was good and nobody else had confirmed the address, none otherwise.
    VerifyEmail<'a> {
        user: Uuid as SqlUuid,
        hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
        shared: bool as Bool,
    } = "\
        UPDATE emails SET verified_at = :now, confirmation_hash = NULL, confirmation_expires_at = NULL \
        WHERE user_id = :user AND confirmation_hash = :hash AND confirmation_expires_at > :now \
          AND (:shared OR NOT EXISTS (SELECT 1 FROM emails AS others WHERE lower(others.address) = lower(emails.address) \
            AND others.verified_at IS NOT NULL AND others.user_id <> emails.user_id))"
}
