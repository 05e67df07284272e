//! `/admin`: how the server is doing.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use countersign_domain::figure::Figure;
use countersign_domain::signing_key::KeyState;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::desk::overview::{Counted, DaySignIns, read_overview};
use countersign_ports::{ListedKey, Replica};
use serde::Serialize;

use super::admit::Visit;
use super::chart::{Chart, Row};
use super::keys::replaced_at;
use super::refusals::{self, RefusalRow};
use super::show::Here;
use super::view::unavailable;

/// How many of the latest refusals are shown.
const REFUSALS: usize = 5;

#[derive(Serialize)]
struct OverviewPage<'a> {
    warnings: &'a [String],
    waiting: Limited,
    /// How many proposals cannot be read.
    unreadable: usize,
    sessions: Limited,
    sign_ins_today: u64,
    replicas: Vec<ReplicaRow>,
    keys: Vec<KeyRow>,
    charts: Vec<Chart>,
    refusals: Vec<RefusalRow>,
}

#[derive(Serialize)]
struct Limited {
    count: u32,
    at_most: bool,
}

impl Limited {
    const fn of(counted: Counted) -> Self {
        Self { count: counted.count, at_most: counted.is_limit }
    }
}

#[derive(Serialize)]
struct ReplicaRow {
    version: String,
    started: Moment,
    seen: Moment,
}

#[derive(Serialize)]
struct KeyRow {
    algorithm: String,
    state: &'static str,
    next: Option<NextChange>,
}

/// What happens to a key next.
#[derive(Serialize)]
struct NextChange {
    key: &'static str,
    at: Moment,
}

pub(super) async fn show(visit: Visit) -> Result<HttpResponse, ApiError> {
    let unwritten = visit.settings.counter.unwritten(&*visit.state.metrics);
    let mut overview = read_overview(visit.desk(), unwritten).await.map_err(unavailable)?;
    let mut charts = vec![sign_ins(&overview.sign_ins)];
    charts
        .extend(Figure::ALL.map(|figure| bars(figure, overview.figures.remove(&figure).unwrap_or_default())));
    let today = overview.sign_ins.last().map(|day| day.by_family.values().sum());
    let page = OverviewPage {
        warnings: &visit.settings.warnings,
        waiting: Limited::of(overview.waiting),
        unreadable: overview.unreadable,
        sessions: Limited::of(overview.sessions),
        sign_ins_today: today.unwrap_or_default(),
        replicas: overview.replicas.iter().map(ReplicaRow::of).collect(),
        keys: keys(&overview.keys, visit.settings.key_rotation),
        charts,
        refusals: refusals::latest(&visit, REFUSALS).await?,
    };
    visit.page(DeskPage::Overview, Here::Overview, &page).await
}

/// The labels of a figure. Times are a scale, so all are shown; of the others, those that were counted.
fn bars(figure: Figure, mut labels: Vec<(String, u64)>) -> Chart {
    match figure {
        Figure::Refusals | Figure::Tokens => labels.retain(|(_, count)| *count > 0),
        Figure::Latency => {}
    }
    Chart::bars(figure.name(), labels)
}

/// The sign-ins of each day, one on the other by family.
fn sign_ins(days: &[DaySignIns]) -> Chart {
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    for (family, count) in days.iter().flat_map(|day| &day.by_family) {
        *totals.entry(family).or_default() += count;
    }
    let mut families: Vec<(&str, u64)> = totals.into_iter().collect();
    // The most frequent first, so that it keeps its color as others come and go.
    families.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rows = days.iter().map(|day| Row {
        name: day.day.to_string(),
        values: families
            .iter()
            .map(|(family, _)| day.by_family.get(*family).copied().unwrap_or_default())
            .collect(),
    });
    // Of an account that was deleted before its sign-in was counted, the wallet is not known.
    let names = families.iter().map(|(family, _)| if family.is_empty() { "–" } else { family }.to_owned());
    Chart::columns("sign_ins", names.collect(), rows.collect())
}

impl ReplicaRow {
    fn of(replica: &Replica) -> Self {
        Self {
            version: replica.version.clone(),
            started: Moment::at(replica.started_at),
            seen: Moment::at(replica.seen_at),
        }
    }
}

/// The keys that are good, each with what happens to it next.
fn keys(keys: &[ListedKey], rotation: Option<time::Duration>) -> Vec<KeyRow> {
    let good = keys.iter().filter(|key| key.state != KeyState::Withdrawn);
    let row = |key: &ListedKey| {
        let next = match (key.state, key.forget_after) {
            (KeyState::Announced, _) => Some(("signs", key.active_from)),
            (KeyState::Retired, Some(after)) => Some(("forgotten", after)),
            (KeyState::Active, _) => replaced_at(key, keys, rotation).map(|at| ("replaced", at)),
            (KeyState::Retired | KeyState::Withdrawn, _) => None,
        };
        let next = next.map(|(key, at)| NextChange { key, at: Moment::at(at) });
        KeyRow { algorithm: key.algorithm.clone(), state: key.state.name(), next }
    };
    good.map(row).collect()
}
