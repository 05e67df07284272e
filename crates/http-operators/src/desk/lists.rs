//! What sorted lists share: heads that sort, totals, and the groups to choose from.

use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_http_actix::error::ApiError;
use countersign_ports::{StoreError, Total};
use serde::Serialize;
use time::OffsetDateTime;

use super::admit::Visit;
use super::query::{Query, wrong_row};

/// Up to how many groups are offered in a list. Of more, a name is typed.
const OFFERED_GROUPS: usize = 200;

/// A way to sort a list: its name in the address, what it means, and its direction.
pub(super) type Sort<T> = (&'static str, T, &'static str);

/// The head of a column that sorts.
#[derive(Serialize)]
pub(super) struct Head {
    /// The query of the list in this order.
    query: String,
    /// `ascending` or `descending`, if the list is in this order.
    direction: Option<&'static str>,
}

/// The order that is asked for, the first of these by default, and the heads.
pub(super) fn sorted<T: Copy>(
    query: &Query,
    sorts: &[Sort<T>],
) -> Result<(T, BTreeMap<&'static str, Head>), ApiError> {
    let asked = query.text("sort").or(sorts.first().map(|(name, ..)| *name));
    let found = sorts.iter().find(|(name, ..)| Some(*name) == asked);
    let (current, order, _) = *found.ok_or_else(|| {
        let names: Vec<&str> = sorts.iter().map(|(name, ..)| *name).collect();
        ApiError::invalid_request(format!("sort takes one of: {}", names.join(", ")))
    })?;
    let head = |&(name, _, direction): &Sort<T>| {
        let direction = (name == current).then_some(direction);
        (name, Head { query: query.sorted_by(name), direction })
    };
    Ok((order, sorts.iter().map(head).collect()))
}

/// A total as people read it: `10000+` if not everything was counted.
pub(super) fn counted(total: Total) -> String {
    if total.more { format!("{}+", total.counted) } else { total.counted.to_string() }
}

/// The names of all groups in their order; none if there are too many to choose from.
pub(super) async fn offered_groups(visit: &Visit) -> Result<Vec<String>, StoreError> {
    let limit = u32::try_from(OFFERED_GROUPS + 1).unwrap_or(u32::MAX);
    let names = visit.management().storage.group_names(limit).await?;
    let names = if names.len() > OFFERED_GROUPS { Vec::new() } else { names };
    Ok(names.iter().map(GroupName::to_string).collect())
}

/// A time as a part of the name of a row.
pub(super) fn micros(time: OffsetDateTime) -> String {
    time.unix_timestamp_nanos().div_euclid(1_000).to_string()
}

/// Reads such a time.
pub(super) fn from_micros(text: &str) -> Result<OffsetDateTime, ApiError> {
    let micros: i64 = text.parse().map_err(|_| wrong_row())?;
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000).map_err(|_| wrong_row())
}
