//! An e-mail address is added, or replaces the one before.

use countersign_ports::{EmailPut, PutEmail};

use crate::columns::{At, Binary, Bool, Id, Key, Moment, Nullable, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guards: the user exists, and the stored address is neither this one, verified, nor another one that must
/// stay. They are in the one insert.
pub fn put_email(db: &mut impl Database, command: &PutEmail) -> Result<EmailPut, SqlError> {
    let confirmation = command.confirmation.as_ref();
    let store = StoreEmail {
        user: command.user.into(),
        address: command.address.as_str(),
        confirmation_hash: confirmation.map(|link| link.hash.as_bytes().as_slice()),
        confirmation_expires_at: confirmation.map(|link| At(link.expires_at)),
        replace: command.replace,
        now: At(command.now),
    };
    if store.run(db)? == 1 {
        return Ok(EmailPut::Stored);
    }
    let present: Option<Option<String>> = AddressOf { user: command.user.into() }.maybe(db)?;
    Ok(match present {
        None => EmailPut::UserUnknown,
        Some(Some(address)) if address == command.address.as_str() => EmailPut::AlreadyVerified,
        // If there is no address now, there was another one when the guard was checked.
        Some(_) => EmailPut::OtherOnFile,
    })
}

/// What happens if there is an address. If it is the same, the time at which it was added stays.
macro_rules! replace_address {
    () => {
        "INSERT INTO emails (user_id, address, added_at, confirmation_hash, confirmation_expires_at) \
        SELECT id, :address, :now, :confirmation_hash, :confirmation_expires_at FROM known WHERE TRUE \
        ON CONFLICT (user_id) DO UPDATE SET \
          address = excluded.address, \
          added_at = CASE WHEN emails.address = excluded.address THEN emails.added_at ELSE excluded.added_at END, \
          verified_at = NULL, \
          confirmation_hash = excluded.confirmation_hash, \
          confirmation_expires_at = excluded.confirmation_expires_at \
        WHERE CASE WHEN emails.address = excluded.address THEN emails.verified_at IS NULL ELSE :replace END"
    };
}

statement! {
    /// One row if the address is stored now and not verified, none otherwise. The user is locked against
    /// deletion.
    StoreEmail<'a> {
        user: Id as Key,
        address: &'a str as Text,
        confirmation_hash: Option<&'a [u8]> as Nullable<Binary>,
        confirmation_expires_at: Option<At> as Nullable<Moment>,
        replace: bool as Bool,
        now: At as Moment,
    },
    sqlite = concat!("WITH known AS (SELECT id FROM users WHERE id = :user) ", replace_address!()),
    postgres = concat!("WITH known AS (SELECT id FROM users WHERE id = :user FOR KEY SHARE) ", replace_address!())
}

statement! {
    AddressOf { user: Id as Key } -> Nullable<Text> = "\
        SELECT address FROM users LEFT JOIN emails ON user_id = id WHERE id = :user"
}
