//! How operators write how long something lasts, in settings, flags and files: `90d`, or a number of seconds.

use std::num::IntErrorKind;

use time::Duration;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

/// Reads a number with `s`, `m`, `h`, `d` or `w`, or a number of seconds. The error is a fragment that says what is
/// wrong.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '-';
    let end = text.find(|character| !is_of_number(character)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: i64 = number.parse().map_err(|error: std::num::ParseIntError| {
        if *error.kind() == IntErrorKind::PosOverflow {
            "too large"
        } else {
            "not a number of seconds, nor a number with s, m, h, d or w"
        }
    })?;
    let seconds = match unit {
        "" | "s" => 1,
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        "w" => WEEK,
        other => return Err(format!("{other:?} is not a unit of time: use s, m, h, d or w")),
    };
    number.checked_mul(seconds).map(Duration::seconds).ok_or_else(|| "too large".to_owned())
}

/// Reads what lasts at least and at most so many seconds.
pub(crate) fn parse_within(text: &str, least: i64, most: i64) -> Result<Duration, String> {
    let duration = parse(text)?;
    if duration.whole_seconds() < least {
        Err("too small".to_owned())
    } else if duration.whole_seconds() > most {
        Err("too large".to_owned())
    } else {
        Ok(duration)
    }
}

/// Writes it with the largest unit that leaves a whole number. Weeks are days, as people say 90 days.
pub(crate) fn written(duration: Duration) -> String {
    let seconds = duration.whole_seconds();
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "m")];
    match units.into_iter().find(|(unit, _)| seconds != 0 && seconds % unit == 0) {
        Some((unit, letter)) => format!("{}{letter}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_a_unit_or_is_seconds() {
        for (text, seconds) in [
            ("0", 0),
            ("45", 45),
            ("45s", 45),
            ("30m", 1_800),
            ("12h", 43_200),
            ("90d", 7_776_000),
            ("2w", 1_209_600),
            ("-1", -1),
        ] {
            assert_eq!(parse(text), Ok(Duration::seconds(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let number = "not a number of seconds, nor a number with s, m, h, d or w";
        for (text, reason) in [
            ("", number),
            ("never", number),
            ("d", number),
            ("1-2", number),
            ("90y", "\"y\" is not a unit of time: use s, m, h, d or w"),
            ("90D", "\"D\" is not a unit of time: use s, m, h, d or w"),
            ("1.5h", "\".5h\" is not a unit of time: use s, m, h, d or w"),
            ("1h30m", "\"h30m\" is not a unit of time: use s, m, h, d or w"),
            ("90 d", "\" d\" is not a unit of time: use s, m, h, d or w"),
            ("99999999999999999999", "too large"),
            ("9223372036854775807w", "too large"),
        ] {
            assert_eq!(parse(text), Err(reason.to_owned()), "{text}");
        }
        assert_eq!(parse_within("59s", 60, 120), Err("too small".to_owned()));
        assert_eq!(parse_within("2m", 60, 120), Ok(Duration::minutes(2)));
        assert_eq!(parse_within("1h", 60, 120), Err("too large".to_owned()));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0s", "61s", "90m", "36h", "90d"] {
            assert_eq!(written(parse(text).unwrap()), text);
        }
        assert_eq!(written(Duration::weeks(2)), "14d");
    }
}
