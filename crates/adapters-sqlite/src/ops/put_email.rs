//! An e-mail address is added, or replaces the one before.

use countersign_ports::{EmailPut, PutEmail};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::emails;
use crate::statement::statement;

/// Guards: the user exists, and the stored address is neither this one, verified, nor another one that must
/// stay. They are in the one insert.
pub(crate) fn put_email(
    connection: &mut SqliteConnection,
    command: &PutEmail,
) -> Result<EmailPut, SqliteError> {
    let user = command.user.as_uuid();
    let confirmation = command.confirmation.as_ref();
    let put = StoreEmail {
        address: command.address.as_str(),
        added_at: micros(command.now),
        confirmation_hash: confirmation.map(|confirmation| confirmation.hash.as_bytes().as_slice()),
        confirmation_expires_at: confirmation.map(|confirmation| micros(confirmation.expires_at)),
        user_id: user.as_bytes(),
        replace: command.replace,
    };
    if put.execute(connection)? == 1 {
        return Ok(EmailPut::Stored);
    }
    let on_file: Option<String> = emails::table
        .find(user.as_bytes().as_slice())
        .select(emails::address)
        .get_result(connection)
        .optional()?;
    Ok(match on_file {
        None => EmailPut::UserUnknown,
        Some(address) if address == command.address.as_str() => EmailPut::AlreadyVerified,
        Some(_) => EmailPut::OtherOnFile,
    })
}

statement! {
    /// If the address is the same, the time at which it was added stays.
    StoreEmail<'a> {
        address: &'a str as Text,
        added_at: i64 as BigInt,
        confirmation_hash: Option<&'a [u8]> as Nullable<Binary>,
        confirmation_expires_at: Option<i64> as Nullable<BigInt>,
        user_id: &'a [u8] as Binary,
        replace: bool as Bool,
    } = "\
        INSERT INTO emails (user_id, address, added_at, confirmation_hash, confirmation_expires_at) \
        SELECT id, :address, :added_at, :confirmation_hash, :confirmation_expires_at FROM users WHERE id = :user_id \
        ON CONFLICT (user_id) DO UPDATE SET \
        address = excluded.address, \
        added_at = CASE WHEN address = excluded.address THEN added_at ELSE excluded.added_at END, \
        verified_at = NULL, \
        confirmation_hash = excluded.confirmation_hash, \
        confirmation_expires_at = excluded.confirmation_expires_at \
        WHERE CASE WHEN address = excluded.address THEN verified_at IS NULL ELSE :replace END"
}
