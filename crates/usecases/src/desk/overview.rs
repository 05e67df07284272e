//! What an operator sees at a glance. Nothing here scans a table: days are counted when events are sealed, and
//! sessions only up to a limit.

use std::collections::BTreeMap;

use countersign_domain::event::EventKind;
use countersign_ports::{DayCount, ListedKey, ProposalPage, Replica, StoreError};
use time::{Date, Duration};

use super::Desk;

/// The days that are shown.
pub const DAYS: u16 = 30;
/// The most sessions that are counted.
pub const MOST_SESSIONS: u32 = 10_000;
/// The most proposals that are looked through.
const MOST_PROPOSALS: u32 = 100;
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
    /// The remembered sign-ins that are valid now.
    pub sessions: Counted,
    /// The replicas that run.
    pub replicas: Vec<Replica>,
    /// The signing keys.
    pub keys: Vec<ListedKey>,
    /// The proposals that wait, of the newest hundred.
    pub waiting: usize,
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

/// Reads the overview.
pub async fn read_overview(desk: Desk<'_>) -> Result<Overview, StoreError> {
    let storage = &desk.context.storage;
    let now = desk.context.clock.now();
    let today = now.to_offset(time::UtcOffset::UTC).date();
    let since = today.saturating_sub(Duration::days(i64::from(DAYS) - 1));
    let counts = storage.day_counts(since).await?;
    let sessions = storage.count_sessions(now, MOST_SESSIONS).await?;
    let page = ProposalPage { after: None, limit: MOST_PROPOSALS };
    let proposals = storage.list_proposals(page).await?;
    Ok(Overview {
        today,
        sign_ins: sign_ins(since, today, &counts),
        counts,
        sessions: Counted { count: sessions, is_limit: sessions >= MOST_SESSIONS },
        replicas: storage.replicas(now.saturating_sub(SEEN_WITHIN)).await?,
        keys: desk.keys.list(now).await?,
        waiting: proposals.iter().filter(|proposal| proposal.waits(now)).count(),
    })
}

/// Every day has its place, even if nobody signed in.
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
