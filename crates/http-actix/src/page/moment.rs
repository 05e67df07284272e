//! A time on a page.

use countersign_domain::challenge::iso8601;
use serde::Serialize;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A time for scripts (`iso`), and for people whose browser runs none (`text`). Pages that name the zone once show `short`.
#[derive(Debug, Serialize)]
pub struct Moment {
    iso: String,
    text: String,
    short: String,
}

impl Moment {
    pub fn at(time: OffsetDateTime) -> Self {
        let utc = time.to_offset(UtcOffset::UTC);
        Self::of(time, format!("{} {:02}:{:02}", utc.date(), utc.hour(), utc.minute()))
    }

    /// The same with seconds, where the order of what happened matters.
    pub fn exact(time: OffsetDateTime) -> Self {
        let utc = time.to_offset(UtcOffset::UTC);
        Self::of(time, format!("{} {:02}:{:02}:{:02}", utc.date(), utc.hour(), utc.minute(), utc.second()))
    }

    fn of(time: OffsetDateTime, short: String) -> Self {
        Self { iso: iso8601(time), text: format!("{short} UTC"), short }
    }

    /// Reads a time as signed texts have it.
    pub fn read(text: &str) -> Option<Self> {
        OffsetDateTime::parse(text, &Rfc3339).ok().map(Self::at)
    }
}

#[cfg(test)]
mod tests {
    use time::Date;

    use super::*;

    #[test]
    fn a_time_is_readable_without_scripts_and_exact_for_them() {
        let day = Date::from_calendar_date(2026, time::Month::March, 9).unwrap();
        let time = day.with_hms(7, 5, 59).unwrap().assume_offset(UtcOffset::from_hms(2, 0, 0).unwrap());
        let moment = Moment::at(time);
        assert_eq!((&*moment.text, &*moment.short), ("2026-03-09 05:05 UTC", "2026-03-09 05:05"));
        assert_eq!(moment.iso, "2026-03-09T05:05:59Z");
        assert_eq!(Moment::exact(time).text, "2026-03-09 05:05:59 UTC");
    }

    #[test]
    fn the_time_of_a_text_is_read_if_it_is_one() {
        let read = |text| Moment::read(text).map(|moment| moment.text);
        assert_eq!(read("2026-03-09T07:05:59+02:00"), Some("2026-03-09 05:05 UTC".to_owned()));
        for other in ["soon", "", "<b>", "2026-03-09"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
