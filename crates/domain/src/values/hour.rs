//! Whole hours of UTC.

use time::OffsetDateTime;

/// An hour, by its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(i64);

impl Hour {
    /// The hour with this number.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// The hour that this time is in.
    pub const fn of(time: OffsetDateTime) -> Self {
        Self(time.unix_timestamp().div_euclid(3_600))
    }

    /// Its number.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// So many hours before.
    #[must_use]
    pub fn back(self, hours: u16) -> Self {
        Self(self.0.saturating_sub(hours.into()))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_hour_lasts_from_its_first_moment_until_the_next_begins() {
        let number = |time| Hour::of(time).number();
        assert_eq!(number(datetime!(1970-01-01 00:59:59.999 UTC)), 0);
        assert_eq!(number(datetime!(1970-01-01 01:00 UTC)), 1);
        assert_eq!(number(datetime!(1969-12-31 23:59:59 UTC)), -1);
        assert_eq!(number(datetime!(1970-01-01 05:30 +05:30)), 0);
        assert_eq!(Hour::of(datetime!(1970-01-02 00:00 UTC)).back(24), Hour::from_number(0));
    }
}
