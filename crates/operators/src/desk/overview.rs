//! What an operator sees at a glance. Nothing here scans a table: days are counted when events are sealed, hours by each
//! server once a minute, and sessions only up to a limit.

use std::collections::BTreeMap;
use std::fmt;

use countersign_domain::desk::proposal;
use countersign_domain::event::EventKind;
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_ports::{
    DayCount, FigureTotal, HourCount, ListedKey, ProposalAt, ProposalPage, Replica, StoreError,
};
use time::{Date, Duration, OffsetDateTime};

use super::Desk;

/// The days that are shown.
pub const DAYS: u16 = 30;
/// The hours that are shown: this one and those before it.
pub const HOURS: u16 = 24;
/// The most sessions that are counted.
pub const MOST_SESSIONS: u32 = 10_000;
/// The most proposals that are looked through.
const MOST_PROPOSALS: usize = 1_000;
/// How many are read at once.
const PAGE: u32 = 100;
/// A replica that was not seen for longer counts as gone.
const SEEN_WITHIN: Duration = Duration::minutes(5);

/// What an operator sees at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// Today, in UTC.
    pub today: Date,
    /// How often what happened, on the last [`DAYS`] days. What happened a moment ago is not counted yet.
    pub counts: Vec<DayCount>,
    /// Sign-ins on each of those days, the oldest first.
    pub sign_ins: Vec<DaySignIns>,
    /// How often what was counted in the last [`HOURS`] hours on all servers: the labels of each figure, with their sums.
    pub figures: BTreeMap<Figure, Vec<(String, u64)>>,
    /// The remembered sign-ins that are valid now.
    pub sessions: Counted,
    /// The replicas that run.
    pub replicas: Vec<Replica>,
    /// The signing keys.
    pub keys: Vec<ListedKey>,
    /// The proposals that wait.
    pub waiting: Counted,
    /// How many rows of recent proposals cannot be read, because they were altered.
    pub unreadable: usize,
}

/// The sign-ins of one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySignIns {
    /// The day, in UTC.
    pub day: Date,
    /// How many there were with a wallet of each family, with a new signature or without.
    pub by_family: BTreeMap<String, u64>,
}

/// A number that was counted up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How many.
    pub count: u32,
    /// Are there perhaps more?
    pub is_limit: bool,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, if self.is_limit { "+" } else { "" })
    }
}

/// Reads the overview. What this server counted and has not written yet is added to what is stored.
pub async fn read_overview(desk: Desk<'_>, unwritten: Vec<FigureTotal>) -> Result<Overview, StoreError> {
    let storage = &desk.context.storage;
    let now = desk.context.clock.now();
    let today = now.to_offset(time::UtcOffset::UTC).date();
    let since = today.saturating_sub(Duration::days(i64::from(DAYS) - 1));
    let counts = storage.day_counts(since).await?;
    let hours = storage.hour_counts(Hour::of(now).back(HOURS - 1)).await?;
    let sessions = storage.count_sessions(now, MOST_SESSIONS).await?;
    let (waiting, unreadable) = count_waiting(desk).await?;
    Ok(Overview {
        today,
        sign_ins: sign_ins(since, today, &counts),
        counts,
        figures: sums(unwritten, hours),
        sessions: Counted { count: sessions, is_limit: sessions >= MOST_SESSIONS },
        replicas: replicas(desk, now).await?,
        keys: desk.keys.list(now).await?,
        waiting,
        unreadable,
    })
}

/// How many replicas run.
pub async fn count_replicas(desk: Desk<'_>) -> Result<usize, StoreError> {
    Ok(replicas(desk, desk.context.clock.now()).await?.len())
}

async fn replicas(desk: Desk<'_>, now: OffsetDateTime) -> Result<Vec<Replica>, StoreError> {
    desk.context.storage.replicas(now.saturating_sub(SEEN_WITHIN)).await
}

/// Counts the proposals that wait. Their ids begin with the time of their texts, so none that waits comes after one that
/// is too old to. Whether there are perhaps more is part of the answer (F-23). Also counts rows that cannot be read.
pub async fn count_waiting(desk: Desk<'_>) -> Result<(Counted, usize), StoreError> {
    let now = desk.context.clock.now();
    let longest = proposal::LIFETIME + desk.context.policy.lifetimes.challenge;
    let (mut after, mut seen, mut count, mut unreadable) = (None, 0, 0_u32, 0);
    loop {
        let page = ProposalPage { after, limit: PAGE };
        let found = desk.context.storage.list_proposals(page).await?;
        let last = found.iter().rev().find_map(ProposalAt::id);
        let is_last_page = found.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
        for found in found {
            seen += 1;
            match found {
                ProposalAt::Proposal(proposal) => count += u32::from(proposal.waits(now)),
                ProposalAt::Unreadable { .. } => unreadable += 1,
            }
        }
        let is_end = is_last_page || last.is_none_or(|last| last.issued_at().saturating_add(longest) <= now);
        if is_end || seen >= MOST_PROPOSALS {
            return Ok((Counted { count, is_limit: !is_end }, unreadable));
        }
        after = last;
    }
}

/// Every day has its place, even without a sign-in.
fn sign_ins(since: Date, today: Date, counts: &[DayCount]) -> Vec<DaySignIns> {
    let days = std::iter::successors(Some(since), |day| day.next_day());
    let of_day = |day: Date| {
        let mut by_family = BTreeMap::new();
        for counted in counts.iter().filter(|counted| counted.day == day) {
            if matches!(counted.kind, EventKind::SignIn | EventKind::SignInContinued) {
                *by_family.entry(counted.family.clone()).or_default() += counted.count;
            }
        }
        DaySignIns { day, by_family }
    };
    days.take_while(|day| *day <= today).map(of_day).collect()
}

/// The labels have the order in which this server counts them. Those of another release follow.
fn sums(unwritten: Vec<FigureTotal>, stored: Vec<HourCount>) -> BTreeMap<Figure, Vec<(String, u64)>> {
    let unwritten = unwritten.into_iter().map(|own| (own.figure, own.label.to_owned(), own.total));
    let stored = stored.into_iter().map(|stored| (stored.figure, stored.label, stored.count));
    let mut figures: BTreeMap<Figure, Vec<(String, u64)>> = BTreeMap::new();
    for (figure, label, count) in unwritten.chain(stored) {
        let labels = figures.entry(figure).or_default();
        match labels.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += count,
            None => labels.push((label, count)),
        }
    }
    figures
}
