//! What can be forgotten when the clock may be wrong. Deleting late costs some space. Deleting early lets a
//! used signature work again, or ends a live sign-in. See docs/adr/0034-nothing-is-forgotten-by-one-clock.md.

use time::{Duration, OffsetDateTime};

/// How much longer than its validity everything is kept. A replay guard survives any clock that is wrong by
/// less than this.
pub const MARGIN: Duration = Duration::hours(1);

/// How far the clock can be from the expected time before it is doubted. This is less than [`MARGIN`], so
/// that a jump that no one notices leaves half an hour of the margin.
pub const TOLERANCE: Duration = Duration::minutes(30);

/// A clock that has run on for this long is trusted, however far it jumped.
pub const LONGEST_DOUBT: Duration = Duration::days(7);

/// The server warns the operator if the clocks of server and database differ by more than this.
pub const NOTICEABLE: Duration = Duration::seconds(5);

/// The readiness probe reports clocks that differ by more than this. A code lasts a minute, so this much of a
/// difference shows.
pub const WORRYING: Duration = Duration::seconds(30);

/// A bound that a deletion takes: what ended before it ended at least [`MARGIN`] ago by every clock that is known.
///
/// Only [`judge_clock`] makes one, so a deletion cannot go by one clock alone. From there the bound only moves back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Past(OffsetDateTime);

impl Past {
    /// What ended before this time can be forgotten.
    pub const fn time(self) -> OffsetDateTime {
        self.0
    }

    /// The bound for what is kept for this much longer.
    #[must_use]
    pub fn kept_for(self, longer: Duration) -> Self {
        Self(self.0.checked_sub(longer.max(Duration::ZERO)).unwrap_or(OffsetDateTime::UNIX_EPOCH))
    }

    /// The bound for what needs a smaller margin than [`MARGIN`].
    #[must_use]
    pub fn with_margin(self, margin: Duration) -> Self {
        let nearer = MARGIN - margin.clamp(Duration::ZERO, MARGIN);
        Self(self.0.checked_add(nearer).unwrap_or(self.0))
    }
}

/// What is known about the time if there is no other clock to ask. It is stored from time to time, so that a
/// restart with another clock is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeMark {
    /// The best estimate of the time when this was stored.
    pub trusted_at: OffsetDateTime,
    /// How long the server has run with a clock that disagrees; zero while it agrees.
    pub doubted_for: Duration,
}

impl TimeMark {
    /// The mark of a clock that there is no reason to doubt.
    pub const fn trusting(now: OffsetDateTime) -> Self {
        Self { trusted_at: now, doubted_for: Duration::ZERO }
    }
}

/// What knows the time besides the server's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWitness {
    /// The database has a clock, and this is its time.
    Clock(OffsetDateTime),
    /// Only a stored mark. `None` before the first one is stored.
    Mark(Option<TimeMark>),
}

/// Why a clock is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockDoubt {
    /// It is ahead of the other clock by this much.
    Ahead(Duration),
    /// It is behind the other clock by this much.
    Behind(Duration),
}

impl ClockDoubt {
    /// How far apart two clocks are; `None` if that is at most `tolerance`.
    pub fn between(now: OffsetDateTime, other: OffsetDateTime, tolerance: Duration) -> Option<Self> {
        let difference = now - other;
        if difference.abs() <= tolerance {
            None
        } else if difference.is_positive() {
            Some(Self::Ahead(difference))
        } else {
            Some(Self::Behind(difference.abs()))
        }
    }

    /// The size of the difference.
    pub const fn difference(self) -> Duration {
        match self {
            Self::Ahead(by) | Self::Behind(by) => by,
        }
    }

    /// The direction of the difference, as a word for people.
    pub const fn direction(self) -> &'static str {
        match self {
            Self::Ahead(_) => "ahead",
            Self::Behind(_) => "behind",
        }
    }
}

/// The result of checking a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedClock {
    /// What ended before this can be forgotten.
    pub before: Past,
    /// Why the clock alone does not decide.
    pub doubt: Option<ClockDoubt>,
    /// What to store, if the database has no clock.
    pub mark: Option<TimeMark>,
}

/// Checks a server's clock. `passed` is the time since the mark was stored, by a clock that no one sets; zero
/// after a start.
///
/// If the database has a clock, a time counts as past only when it is past on both clocks. If it has none,
/// the clock is expected at the mark plus `passed`. If it is somewhere else, the earlier of the two counts,
/// until the server has run on for as long as the difference (at most a week), or someone confirms that the
/// clock is right. A server that was switched off looks like one whose clock jumped, so it catches up in the
/// same way.
pub fn judge_clock(now: OffsetDateTime, witness: TimeWitness, passed: Duration) -> JudgedClock {
    let past = |time: OffsetDateTime| Past(time.checked_sub(MARGIN).unwrap_or(time));
    let mark = match witness {
        TimeWitness::Clock(other) => {
            let doubt = ClockDoubt::between(now, other, NOTICEABLE);
            return JudgedClock { before: past(now.min(other)), doubt, mark: None };
        }
        TimeWitness::Mark(mark) => mark.unwrap_or(TimeMark::trusting(now)),
    };
    let passed = passed.max(Duration::ZERO);
    let expected = mark.trusted_at.checked_add(passed).unwrap_or(mark.trusted_at);
    let believed = JudgedClock { before: past(now), doubt: None, mark: Some(TimeMark::trusting(now)) };
    let Some(doubt) = ClockDoubt::between(now, expected, TOLERANCE) else { return believed };
    let doubted_for = mark.doubted_for.saturating_add(passed);
    if doubted_for >= doubt.difference().min(LONGEST_DOUBT) {
        return believed;
    }
    let mark = TimeMark { trusted_at: expected, doubted_for };
    JudgedClock { before: past(now.min(expected)), doubt: Some(doubt), mark: Some(mark) }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOON: OffsetDateTime = datetime!(2026-11-21 12:00:00 UTC);

    fn marked(trusted_at: OffsetDateTime) -> TimeWitness {
        TimeWitness::Mark(Some(TimeMark::trusting(trusted_at)))
    }

    #[test]
    fn f_18_both_clocks_must_be_past_a_time() {
        for skew in [Duration::minutes(1), Duration::hours(2), Duration::days(40)] {
            for (own, others) in [(NOON + skew, NOON), (NOON, NOON + skew), (NOON - skew, NOON)] {
                let judged = judge_clock(own, TimeWitness::Clock(others), Duration::ZERO);
                assert_eq!(judged.before.time(), own.min(others) - MARGIN);
                assert_eq!(judged.doubt.map(ClockDoubt::difference), Some(skew));
                assert_eq!(judged.mark, None);
            }
        }
        let judged = judge_clock(NOON, TimeWitness::Clock(NOON + NOTICEABLE), Duration::ZERO);
        assert_eq!((judged.before.time(), judged.doubt), (NOON - MARGIN, None));
    }

    #[test]
    fn a_clock_that_was_never_judged_is_believed() {
        let judged = judge_clock(NOON, TimeWitness::Mark(None), Duration::ZERO);
        assert_eq!((judged.before.time(), judged.doubt), (NOON - MARGIN, None));
        assert_eq!(judged.mark, Some(TimeMark::trusting(NOON)));
    }

    #[test]
    fn f_18_a_jump_forgets_nothing_that_the_clock_before_it_would_not() {
        for skew in [Duration::hours(2), Duration::days(40), Duration::days(40_000)] {
            let ahead = judge_clock(NOON + skew, marked(NOON), Duration::minutes(1));
            assert_eq!(ahead.before.time(), NOON + Duration::minutes(1) - MARGIN);
            assert_eq!(ahead.doubt, Some(ClockDoubt::Ahead(skew - Duration::minutes(1))));
            let behind = judge_clock(NOON - skew, marked(NOON), Duration::minutes(1));
            assert_eq!(behind.before.time(), NOON - skew - MARGIN);
            assert_eq!(behind.doubt, Some(ClockDoubt::Behind(skew + Duration::minutes(1))));
        }
    }

    #[test]
    fn a_short_pause_is_no_jump() {
        let judged = judge_clock(NOON + TOLERANCE, marked(NOON), Duration::ZERO);
        assert_eq!((judged.before.time(), judged.doubt), (NOON + TOLERANCE - MARGIN, None));
    }

    #[test]
    fn a_clock_that_comes_back_is_believed_at_once() {
        let jumped = judge_clock(NOON + Duration::days(40), marked(NOON), Duration::ZERO);
        let mark = TimeWitness::Mark(jumped.mark);
        let minute = Duration::minutes(1);
        let back = judge_clock(NOON + minute, mark, minute);
        assert_eq!((back.doubt, back.mark), (None, Some(TimeMark::trusting(NOON + minute))));
    }

    /// Runs on in steps of a minute, and returns after how long the clock is trusted.
    fn doubted(start: OffsetDateTime) -> Duration {
        let minute = Duration::minutes(1);
        let mut ran = Duration::ZERO;
        let mut mark = Some(TimeMark::trusting(NOON));
        loop {
            let passed = if ran.is_zero() { Duration::ZERO } else { minute };
            let judged = judge_clock(start + ran, TimeWitness::Mark(mark), passed);
            if judged.doubt.is_none() {
                return ran;
            }
            assert!(judged.before.time() <= NOON + ran - MARGIN, "nothing is forgotten too early");
            mark = judged.mark;
            ran += minute;
        }
    }

    #[test]
    fn a_server_that_was_off_catches_up_in_the_time_that_it_was_off_and_in_a_week_at_the_most() {
        for hours in [-240, -3, 1, 10, 100, 167] {
            let away = Duration::hours(hours);
            assert_eq!(doubted(NOON + away), away.abs().min(LONGEST_DOUBT));
        }
        assert_eq!(doubted(NOON + Duration::days(40)), LONGEST_DOUBT);
    }

    /// Clocks that jump at random. The time before which things are forgotten is never later than the true
    /// time minus what is left of the margin, unless a wrong clock ran on for as long as the difference.
    #[test]
    fn f_18_ten_thousand_jumps_forget_nothing_early() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % below).unwrap_or(0)
        };
        for _ in 0..10_000 {
            let mut mark = Some(TimeMark::trusting(NOON));
            let mut truth = NOON;
            for _ in 0..4 {
                let passed = Duration::seconds(random(600));
                truth += passed;
                let skew = Duration::minutes(31) + Duration::minutes(random(100_000));
                let skew = if random(2) == 0 { skew } else { -skew };
                let now = if random(3) == 0 { truth } else { truth + skew };
                let judged = judge_clock(now, TimeWitness::Mark(mark), passed);
                assert!(judged.before.time() <= truth - MARGIN + TOLERANCE, "{judged:?} at {truth}");
                mark = judged.mark;
            }
        }
    }

    #[test]
    fn f_18_a_bound_moves_only_back_except_for_a_smaller_margin() {
        let past = judge_clock(NOON + MARGIN, TimeWitness::Mark(None), Duration::ZERO).before;
        assert_eq!(past.time(), NOON);
        for (longer, expected) in [(1, NOON - Duration::DAY), (0, NOON), (-1, NOON)] {
            assert_eq!(past.kept_for(Duration::days(longer)).time(), expected);
        }
        assert_eq!(past.kept_for(Duration::MAX).time(), OffsetDateTime::UNIX_EPOCH);
        for (minutes, nearer) in [(60, 0), (5, 55), (0, 60), (-9, 60), (90, 0)] {
            let bound = past.with_margin(Duration::minutes(minutes));
            assert_eq!(bound.time(), NOON + Duration::minutes(nearer));
        }
    }
}
