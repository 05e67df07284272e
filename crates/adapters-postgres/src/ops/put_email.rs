//! An e-mail address is added, or replaces the one before.

use countersign_ports::{EmailPut, PutEmail};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::schema::{emails, users};
use crate::statement::statement;

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
        // If there is no address now, there was another one when the guard was checked.
        Some(_) => EmailPut::OtherOnFile,
    })
}

statement! {
    /// One row if the address is stored now and not verified, none otherwise. The user is locked against
    /// deletion.
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
