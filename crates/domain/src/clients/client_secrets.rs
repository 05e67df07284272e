//! The secrets of a client: the current one, and for a while the one before it.
//!
//! Storage keeps their hashes. When they were made and last used is for operators only and stays there.

use subtle::{Choice, ConstantTimeEq};
use time::{Duration, OffsetDateTime};

use crate::secret::{Secret, SecretHash};

/// The secrets that a client can have at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSecrets {
    /// The hash of the current secret. It has no end.
    pub current: SecretHash,
    /// The secret before it, if the operator let it work on. It may have ended by now.
    pub old: Option<OldSecret>,
}

/// A secret that was replaced and still works for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldSecret {
    /// Its hash.
    pub hash: SecretHash,
    /// From this second on it is refused.
    pub expires_at: OffsetDateTime,
}

/// A secret that a client proved to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSecret {
    /// Which one it is.
    pub which: WhichSecret,
    /// Its hash.
    pub hash: SecretHash,
}

/// One of the two secrets of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichSecret {
    /// The newest one.
    Current,
    /// The one before it.
    Old,
}

impl ClientSecrets {
    /// The secret of a client that has one.
    pub const fn only(current: SecretHash) -> Self {
        Self { current, old: None }
    }

    /// Finds out which of the secrets was presented, if any.
    ///
    /// Takes the same time whichever it is, and whether or not there is an old one: the presented secret is
    /// hashed once and compared twice, and nothing branches before both results are known. Where there is no
    /// old secret, the current one takes its place in the second comparison and the result is dropped.
    pub fn recognize(&self, now: OffsetDateTime, presented: &Secret) -> Option<KnownSecret> {
        let presented = SecretHash::of(presented);
        let (old, expires_at) = match self.old {
            Some(old) => (old.hash, old.expires_at),
            None => (self.current, now),
        };
        let is_current = presented.ct_eq(&self.current);
        let is_old = presented.ct_eq(&old) & Choice::from(u8::from(now < expires_at));
        let which = match (bool::from(is_current), bool::from(is_old)) {
            (true, true | false) => WhichSecret::Current,
            (false, true) => WhichSecret::Old,
            (false, false) => return None,
        };
        Some(KnownSecret { which, hash: presented })
    }

    /// The old secret, if it still works.
    pub fn living_old(&self, now: OffsetDateTime) -> Option<OldSecret> {
        self.old.filter(|old| now < old.expires_at)
    }
}

/// How long a secret works on after it was replaced: from not at all to 90 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepOld(u32);

impl KeepOld {
    /// The longest time, in seconds.
    pub const LONGEST: u32 = 90 * 24 * 60 * 60;
    /// Not at all.
    pub const NOT: Self = Self(0);
    /// A day, unless something else is said: so the application can change over without a gap.
    pub const USUAL: Self = Self(24 * 60 * 60);

    /// So many seconds; `None` if that is too long.
    pub const fn seconds(seconds: u32) -> Option<Self> {
        if seconds <= Self::LONGEST { Some(Self(seconds)) } else { None }
    }

    /// How many seconds.
    pub const fn as_seconds(self) -> u32 {
        self.0
    }

    /// The end of a secret that is replaced now, in whole seconds, so that it can be shown exactly; `None` if
    /// it does not work on.
    pub fn until(self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        if self == Self::NOT {
            return None;
        }
        let begun = if now.nanosecond() == 0 { 0 } else { 1 };
        let whole = now.replace_nanosecond(0).unwrap_or(now);
        whole.checked_add(Duration::seconds(i64::from(self.0) + begun))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-23 10:00 UTC);
    const SECOND: Duration = Duration::SECOND;

    fn secret(number: u8) -> Secret {
        Secret::from_random([number; 32])
    }

    fn hash(number: u8) -> SecretHash {
        SecretHash::of(&secret(number))
    }

    fn both() -> ClientSecrets {
        ClientSecrets { current: hash(2), old: Some(OldSecret { hash: hash(1), expires_at: NOW + SECOND }) }
    }

    fn recognized(secrets: ClientSecrets, now: OffsetDateTime, number: u8) -> Option<WhichSecret> {
        let known = secrets.recognize(now, &secret(number))?;
        assert_eq!(known.hash, hash(number));
        Some(known.which)
    }

    #[test]
    fn both_secrets_are_recognized_and_no_other() {
        assert_eq!(recognized(both(), NOW, 2), Some(WhichSecret::Current));
        assert_eq!(recognized(both(), NOW, 1), Some(WhichSecret::Old));
        assert_eq!(recognized(both(), NOW, 3), None);
        assert_eq!(both().recognize(NOW, &Secret::new("")), None);
    }

    #[test]
    fn an_old_secret_is_refused_from_its_end_on() {
        let just_before = NOW + SECOND - Duration::NANOSECOND;
        assert_eq!(recognized(both(), just_before, 1), Some(WhichSecret::Old));
        assert_eq!(recognized(both(), NOW + SECOND, 1), None);
        assert_eq!(recognized(both(), NOW + SECOND, 2), Some(WhichSecret::Current));
        assert_eq!(both().living_old(just_before), both().old);
        assert_eq!(both().living_old(NOW + SECOND), None);
    }

    #[test]
    fn without_an_old_secret_the_current_one_alone_is_recognized() {
        let secrets = ClientSecrets::only(hash(2));
        assert_eq!(recognized(secrets, NOW, 2), Some(WhichSecret::Current));
        assert_eq!(recognized(secrets, NOW, 1), None);
        assert_eq!(secrets.living_old(NOW), None);
    }

    #[test]
    fn a_secret_that_is_both_counts_as_the_current_one() {
        let secrets = ClientSecrets { old: Some(OldSecret { hash: hash(2), expires_at: NOW }), ..both() };
        assert_eq!(recognized(secrets, NOW - SECOND, 2), Some(WhichSecret::Current));
    }

    #[test]
    fn an_old_secret_works_at_least_as_long_as_was_said_and_ends_at_a_whole_second() {
        let keep = |seconds| KeepOld::seconds(seconds).unwrap();
        assert_eq!(KeepOld::NOT.until(NOW), None);
        assert_eq!(keep(1).until(NOW), Some(NOW + SECOND));
        assert_eq!(keep(1).until(NOW + Duration::NANOSECOND), Some(NOW + 2 * SECOND));
        assert_eq!(keep(KeepOld::LONGEST).until(NOW), Some(NOW + Duration::days(90)));
        assert_eq!(KeepOld::seconds(KeepOld::LONGEST + 1), None);
    }
}
