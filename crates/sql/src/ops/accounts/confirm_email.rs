//! A person followed the link in the mail.

use countersign_ports::{ConfirmEmail, EmailConfirmed, SharedAddress};

use crate::columns::{At, Binary, Bool, Id, Key, Moment};
use crate::database::Statement;
use crate::ops::events::record_event::record_about;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guards: the link is the stored one and has not expired, and no other user confirmed the address, unless
/// sharing it is agreed. Which of them refused is read afterwards.
pub fn confirm_email<D: Database>(db: &mut D, command: &ConfirmEmail) -> Result<EmailConfirmed, SqlError> {
    let (user, hash, now) = (Id::from(command.user), command.hash.as_bytes().as_slice(), At(command.now));
    let shared = command.shared == SharedAddress::Agreed;
    db.all_or_nothing(|db| {
        if D::HAS_SEVERAL_WRITERS {
            LockAddress { user }.run(db)?;
        }
        if (VerifyEmail { user, hash, now, shared }).run(db)? == 1 {
            record_about(db, command.event.as_deref(), command.user)?;
            return Ok(EmailConfirmed::Confirmed);
        }
        let is_good = IsLinkGood { user, hash, now }.one(db)?;
        Ok(if is_good { EmailConfirmed::SharedAddress } else { EmailConfirmed::LinkInvalid })
    })
}

statement! {
    /// Makes other confirmations of the same address wait until this transaction ends, so that each sees the
    /// other's result.
    pub LockAddress { user: Id as Key },
    sqlite = "SELECT :user",
    postgres = "\
        SELECT pg_advisory_xact_lock(hashtextextended('countersign email ' || lower(address), 0)) \
        FROM emails WHERE user_id = :user"
}

statement! {
    /// One row if the link was good and no one else had confirmed the address, none otherwise.
    pub VerifyEmail<'a> {
        user: Id as Key,
        hash: &'a [u8] as Binary,
        now: At as Moment,
        shared: bool as Bool,
    } = "\
        UPDATE emails SET verified_at = :now, confirmation_hash = NULL, confirmation_expires_at = NULL \
        WHERE user_id = :user AND confirmation_hash = :hash AND confirmation_expires_at > :now \
          AND (:shared OR NOT EXISTS (SELECT 1 FROM emails AS others WHERE lower(others.address) = lower(emails.address) \
            AND others.verified_at IS NOT NULL AND others.user_id <> emails.user_id))"
}

statement! {
    pub IsLinkGood<'a> { user: Id as Key, hash: &'a [u8] as Binary, now: At as Moment } -> Bool = "\
        SELECT EXISTS ( \
          SELECT 1 FROM emails \
          WHERE user_id = :user AND confirmation_hash = :hash AND confirmation_expires_at > :now \
        )"
}
