//! What may be forgotten by a clock that may be wrong. Deleting late costs some room; deleting early lets a used signature work
//! again, or ends a sign-in that lives. See docs/adr/0034-nothing-is-forgotten-by-one-clock.md.

use time::{Duration, OffsetDateTime};

/// How much longer than it could be good everything is kept. What prevents a replay outlives every clock that is wrong by less.
pub const MARGIN: Duration = Duration::hours(1);

/// How far the clock may be from where it is expected without a doubt. It is shorter than [`MARGIN`], so that a jump that
/// nobody notices leaves half an hour of it.
pub const TOLERANCE: Duration = Duration::minutes(30);

/// A clock that has run on for so long is believed, however far it jumped.
pub const LONGEST_DOUBT: Duration = Duration::days(7);

/// Clocks of servers and databases that differ by more are told to the operator.
pub const NOTICEABLE: Duration = Duration::seconds(5);

/// Clocks that differ by more are told by the readiness probe: a code lives a minute, and so much of a difference shows.
pub const WORRYING: Duration = Duration::seconds(30);

/// What is known of the time when nobody else can be asked: it is written down now and then, so that a restart with another
/// clock is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeMark {
    /// The time, by all that was known when this was written.
    pub trusted_at: OffsetDateTime,
    /// For how long the server has run with a clock that says something else; zero while it agrees.
    pub doubted_for: Duration,
}

impl TimeMark {
    /// A clock that nobody has a reason to doubt.
    pub const fn trusting(now: OffsetDateTime) -> Self {
        Self { trusted_at: now, doubted_for: Duration::ZERO }
    }
}

/// What tells the time besides a server's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWitness {
    /// The database has a clock, and this is what it says.
    Clock(OffsetDateTime),
    /// Only what was written down; nothing before the first time.
    Mark(Option<TimeMark>),
}

/// Why a clock is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockDoubt {
    /// It is ahead of the other by so much.
    Ahead(Duration),
    /// It is behind the other by so much.
    Behind(Duration),
}

impl ClockDoubt {
    /// How far apart two clocks are; nothing if it is no more than `tolerance`.
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

    /// By how much.
    pub const fn difference(self) -> Duration {
        match self {
            Self::Ahead(by) | Self::Behind(by) => by,
        }
    }

    /// In which direction, as a word for people.
    pub const fn direction(self) -> &'static str {
        match self {
            Self::Ahead(_) => "ahead",
            Self::Behind(_) => "behind",
        }
    }
}

/// A judgement on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedClock {
    /// What ended before this time may be forgotten.
    pub before: OffsetDateTime,
    /// Why the clock alone does not decide.
    pub doubt: Option<ClockDoubt>,
    /// What has to be written down, if the database has no clock.
    pub mark: Option<TimeMark>,
}

/// Judges a server's clock. `passed` is what passed since the mark was written, by a clock that nobody sets; nothing after a
/// start.
///
/// Where the database has a clock, both must be past a time before it counts as past. Where it has none, the clock is expected to be
/// where the mark and what passed since say; if it is somewhere else, the earlier of the two counts, until the server has
/// run on for as long as the difference (a week at the most) or somebody says that the clock is right. A server that was switched
/// off looks like one whose clock jumped, so it catches up in the same way.
pub fn judge_clock(now: OffsetDateTime, witness: TimeWitness, passed: Duration) -> JudgedClock {
    let past = |time: OffsetDateTime| time.checked_sub(MARGIN).unwrap_or(time);
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
                assert_eq!(judged.before, own.min(others) - MARGIN);
                assert_eq!(judged.doubt.map(ClockDoubt::difference), Some(skew));
                assert_eq!(judged.mark, None);
            }
        }
        let judged = judge_clock(NOON, TimeWitness::Clock(NOON + NOTICEABLE), Duration::ZERO);
        assert_eq!((judged.before, judged.doubt), (NOON - MARGIN, None));
    }

    #[test]
    fn a_clock_that_was_never_judged_is_believed() {
        let judged = judge_clock(NOON, TimeWitness::Mark(None), Duration::ZERO);
        assert_eq!((judged.before, judged.doubt), (NOON - MARGIN, None));
        assert_eq!(judged.mark, Some(TimeMark::trusting(NOON)));
    }

    #[test]
    fn f_18_a_jump_forgets_nothing_that_the_clock_before_it_would_not() {
        for skew in [Duration::hours(2), Duration::days(40), Duration::days(40_000)] {
            let ahead = judge_clock(NOON + skew, marked(NOON), Duration::minutes(1));
            assert_eq!(ahead.before, NOON + Duration::minutes(1) - MARGIN);
            assert_eq!(ahead.doubt, Some(ClockDoubt::Ahead(skew - Duration::minutes(1))));
            let behind = judge_clock(NOON - skew, marked(NOON), Duration::minutes(1));
            assert_eq!(behind.before, NOON - skew - MARGIN);
            assert_eq!(behind.doubt, Some(ClockDoubt::Behind(skew + Duration::minutes(1))));
        }
    }

    #[test]
    fn a_short_pause_is_no_jump() {
        let judged = judge_clock(NOON + TOLERANCE, marked(NOON), Duration::ZERO);
        assert_eq!((judged.before, judged.doubt), (NOON + TOLERANCE - MARGIN, None));
    }

    #[test]
    fn a_clock_that_comes_back_is_believed_at_once() {
        let jumped = judge_clock(NOON + Duration::days(40), marked(NOON), Duration::ZERO);
        let mark = TimeWitness::Mark(jumped.mark);
        let minute = Duration::minutes(1);
        let back = judge_clock(NOON + minute, mark, minute);
        assert_eq!((back.doubt, back.mark), (None, Some(TimeMark::trusting(NOON + minute))));
    }

    /// Runs on in steps of a minute, and tells after how long the clock is believed.
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
            assert!(judged.before <= NOON + ran - MARGIN, "nothing is forgotten before its time");
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

    /// Clocks that jump about at random: what is forgotten is never later than the true time less what is left of the margin,
    /// unless the clock stayed where it was for as long as it was off.
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
                assert!(judged.before <= truth - MARGIN + TOLERANCE, "{judged:?} at {truth}");
                mark = judged.mark;
            }
        }
    }
}
