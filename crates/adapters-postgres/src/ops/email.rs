//! The e-mail address of a user.

use countersign_domain::id::UserId;
use countersign_ports::{ConfirmEmail, EmailConfirmed, EmailPut, PutEmail, SharedAddress};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::schema::{emails, users};
use crate::statement::statement;

statement! {
    /// One row if the address is on file now and not verified, none otherwise. The user is locked against going away.
    StoreEmail<'a> {
        user: Uuid as SqlUuid,
        address: &'a str as Text,
        confirmation_hash: Option<&'a [u8]> as Nullable<Binary>,
        confirmation_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        replace: bool as Bool,
        now: OffsetDateTime as Timestamptz,
    } = "\
        WITH known AS (SELECT id FROM users WHERE id = :user FOR KEY SHARE) \
        INSERT INTO emails (user_id, address, added_at, confirmation_hash, confirmation_expires_at) \
        SELECT id, :address, :now, :confirmation_hash, :confirmation_expires_at FROM known \
        ON CONFLICT (user_id) DO UPDATE SET \
          address = excluded.address, \
          added_at = CASE WHEN emails.address = excluded.address THEN emails.added_at ELSE excluded.added_at END, \
          verified_at = NULL, \
          confirmation_hash = excluded.confirmation_hash, \
          confirmation_expires_at = excluded.confirmation_expires_at \
        WHERE CASE WHEN emails.address = excluded.address THEN emails.verified_at IS NULL ELSE :replace END"
}

statement! {
    /// Has whoever confirms the same address wait until this transaction ends: what each then sees of the other is true.
    LockAddress { user: Uuid as SqlUuid } = "\
        SELECT pg_advisory_xact_lock(hashtextextended('countersign email ' || lower(address), 0)) \
        FROM emails WHERE user_id = :user"
}

statement! {
    /// One row if the link was good and the address nobody else's, none otherwise.
    Confirm<'a> {
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

statement! {
    DeleteEmail { user: Uuid as SqlUuid } = "DELETE FROM emails WHERE user_id = :user"
}

pub(crate) fn put_email(connection: &mut PgConnection, command: &PutEmail) -> OpResult<EmailPut> {
    let confirmation = command.confirmation.as_ref();
    let statement = StoreEmail {
        user: command.user.as_uuid(),
        address: command.address.as_str(),
        confirmation_hash: confirmation.map(|link| link.hash.as_bytes().as_slice()),
        confirmation_expires_at: confirmation.map(|link| link.expires_at),
        replace: command.replace,
        now: command.now,
    };
    if statement.execute(connection)? == 1 {
        return Ok(EmailPut::Stored);
    }
    let present: Option<Option<String>> = users::table
        .left_join(emails::table.on(emails::user_id.eq(users::id)))
        .filter(users::id.eq(command.user.as_uuid()))
        .select(emails::address.nullable())
        .first(connection)
        .optional()?;
    Ok(match present {
        None => EmailPut::UserUnknown,
        Some(Some(address)) if address == command.address.as_str() => EmailPut::AlreadyVerified,
        // Without an address now, there was another one when the guard was asked.
        Some(_) => EmailPut::OtherOnFile,
    })
}

pub(crate) fn confirm_email(
    connection: &mut PgConnection,
    command: &ConfirmEmail,
) -> OpResult<EmailConfirmed> {
    let user = command.user.as_uuid();
    let statement = Confirm {
        user,
        hash: command.hash.as_bytes(),
        now: command.now,
        shared: command.shared == SharedAddress::Agreed,
    };
    connection.transaction(|connection| {
        LockAddress { user }.execute(connection)?;
        if statement.execute(connection)? == 1 {
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

pub(crate) fn remove_email(connection: &mut PgConnection, user: UserId) -> OpResult<bool> {
    Ok(DeleteEmail { user: user.as_uuid() }.execute(connection)? == 1)
}
