//! Sealed events are pushed to a receiver that the operator named, as Security Event Tokens (RFC 8417) over HTTP
//! (RFC 8935).
//!
//! Each event arrives at least once, and those about one person in their order. How far the receiver got is stored
//! after a few hundred events; after a crash these are sent again, with the same `jti`. An event that the receiver
//! does not take waits, with all that follows about the same person, while others go on. If it takes nothing at all,
//! everything waits.

mod delivery;
mod lanes;

use std::collections::BTreeMap;

use countersign_domain::event::Event;
use countersign_domain::event_push::{DelayedEvent, ReceiverId};
use countersign_domain::secret::Secret;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AdvancePush, BeginPush, EventAt, EventPush, StoreError};
use time::{Duration, OffsetDateTime};

use self::lanes::{Lane, Sent, send_lanes};
use crate::Context;

/// How many events are read at a time.
const PAGE: u32 = 200;
/// The most events that can wait while others go on. If there are as many, everything waits.
const MAX_DELAYED: usize = 400;
/// The longest pause between two tries of an event, and of a receiver that takes nothing.
const MAX_PAUSE: Duration = Duration::minutes(5);
/// The longest pause while it may be the events, not the receiver.
const MAX_DOUBT: Duration = Duration::seconds(30);
/// How long an event is tried that the receiver does not take while it takes others.
const PATIENCE: Duration = Duration::days(1);

/// Who gets the events.
#[derive(Clone, Debug)]
pub struct EventReceiver {
    /// Where they are posted.
    pub url: String,
    /// What is sent as `Authorization: Bearer`.
    pub secret: Option<Secret>,
}

/// Pushes events to a receiver.
#[derive(Debug)]
pub struct Pusher {
    receiver: EventReceiver,
    id: ReceiverId,
    failures: u32,
    rests_until: Option<OffsetDateTime>,
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushRound {
    /// Events that the receiver took.
    pub taken: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Events that were given up: the receiver refused them, or did not take them for a day.
    pub given_up: u64,
    /// Events that were deleted before they were taken.
    pub lost: u64,
    /// Events that are still to be taken; `None` if the round did not look.
    pub pending: Option<u64>,
    /// Are there more that can be pushed at once?
    pub more: bool,
}

/// An event that is due, or that waits for another one.
#[derive(Clone, Debug)]
struct Item {
    position: u64,
    event: Event,
    /// If it waited before.
    delayed: Option<DelayedEvent>,
}

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// It was not sent.
    Unsent,
    /// The receiver has it.
    Taken,
    /// The receiver will never take it.
    Refused,
    /// The receiver did not take it.
    Failed,
}

impl Fate {
    const fn is_final(&self) -> bool {
        matches!(self, Self::Taken | Self::Refused)
    }
}

impl Pusher {
    /// A pusher that has tried nothing yet.
    pub fn new(receiver: EventReceiver) -> Self {
        let id = ReceiverId::of(&receiver.url);
        Self { receiver, id, failures: 0, rests_until: None }
    }

    /// Pushes a few hundred events. The caller holds a lease, so that no other replica does the same.
    pub async fn push_events(&mut self, context: &Context) -> Result<PushRound, StoreError> {
        let now = context.clock.now();
        let Some(push) = context.storage.find_push(self.id).await? else {
            return self.begin(context).await;
        };
        // Before the page: what is sealed in between is not missing from the page.
        let last = last_position(context).await?;
        if self.rests_until.is_some_and(|until| now < until) {
            return Ok(PushRound { pending: Some(pending(&push, last)), ..PushRound::default() });
        }
        let page = match push.delayed.len() {
            MAX_DELAYED.. => Vec::new(),
            _ => context.storage.sealed_events(push.position, PAGE).await?,
        };
        let is_full = page.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
        let is_due = push.delayed.iter().any(|delayed| delayed.next_at <= now);
        let is_behind = !page.is_empty() || (last > push.position && push.delayed.len() < MAX_DELAYED);
        if !is_due && !is_behind {
            return Ok(PushRound { pending: Some(pending(&push, last)), ..PushRound::default() });
        }
        let positions: Vec<u64> = page.iter().map(EventAt::position).collect();
        let mut round = PushRound::default();
        let mut items = delayed_items(context, &push, &mut round).await?;
        items.extend(page.into_iter().filter_map(|at| item(at, None)));

        let sent = self.send(context, now, &items).await;

        let reach = match (is_full, is_behind) {
            (true, _) => positions.last().copied().unwrap_or(push.position),
            (false, true) => last.max(positions.last().copied().unwrap_or(0)).max(push.position),
            (false, false) => push.position,
        };
        let settled = settle(&push, &items, &sent, now, Bounds { reach, is_full });
        round.taken = count(sent.fates.iter().filter(|fate| **fate == Fate::Taken).count());
        round.failed = count(sent.fates.iter().filter(|fate| **fate == Fate::Failed).count());
        round.given_up = count(sent.fates.iter().filter(|fate| **fate == Fate::Refused).count());
        round.given_up += settled.given_up;
        let seen = positions.iter().filter(|position| **position <= settled.position).count();
        round.lost += settled.position.saturating_sub(push.position).saturating_sub(count(seen));
        if round.lost > 0 {
            tracing::error!(
                events = round.lost,
                "events were deleted before they were pushed: event_retention is shorter than the receiver was away"
            );
        }
        self.rest(now, &sent, settled.is_stuck);
        round.pending = Some(pending_after(&settled, last));
        round.more = !settled.is_stuck && (is_full || sent.was_stopped);
        if settled.position == push.position && settled.delayed == push.delayed {
            return Ok(round);
        }
        let command = AdvancePush {
            receiver: self.id,
            round: push.round,
            position: settled.position,
            delayed: settled.delayed,
        };
        if !context.storage.advance_push(command).await? {
            tracing::debug!("another replica pushed events at the same time");
        }
        Ok(round)
    }

    /// A receiver that is new gets what happens from now on.
    async fn begin(&self, context: &Context) -> Result<PushRound, StoreError> {
        let position = last_position(context).await?;
        if context.storage.begin_push(BeginPush { receiver: self.id, position }).await? {
            tracing::info!(position, "events are pushed to a new receiver from now on");
        }
        Ok(PushRound { more: true, ..PushRound::default() })
    }

    async fn send(&self, context: &Context, now: OffsetDateTime, items: &[Item]) -> Sent {
        let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let lane = lanes.entry(subject(&item.event)).or_default();
            if lane.items.is_empty() {
                lane.waits = item.delayed.is_some_and(|delayed| delayed.next_at > now);
            }
            lane.items.push(index);
        }
        let mut lanes: Vec<Lane> = lanes.into_values().filter(|lane| !lane.waits).collect();
        // The oldest first.
        lanes.sort_by_key(|lane| lane.items.first().copied());
        send_lanes(context, &self.receiver, items, lanes).await
    }

    /// If the receiver takes nothing, it is left alone for a while, longer each time.
    fn rest(&mut self, now: OffsetDateTime, sent: &Sent, is_stuck: bool) {
        if !is_stuck {
            if self.failures > 0 && sent.fates.iter().any(Fate::is_final) {
                tracing::info!("receiver of events takes them again");
                (self.failures, self.rests_until) = (0, None);
            }
            return;
        }
        self.failures = self.failures.saturating_add(1);
        let most = if sent.is_down { MAX_PAUSE } else { MAX_DOUBT };
        let pause = pause_after(self.failures).min(most);
        self.rests_until = Some(now + pause);
        if self.failures.is_power_of_two() {
            let reason = sent.reason.as_deref().unwrap_or("no answer");
            tracing::warn!(
                reason,
                tries = self.failures,
                again_in = pause.whole_seconds(),
                "events could not be pushed yet"
            );
        }
    }
}

/// How far a round can come.
#[derive(Clone, Copy)]
struct Bounds {
    /// The last position that it looked at.
    reach: u64,
    /// Was the page full?
    is_full: bool,
}

/// What is noted after a round.
#[derive(Debug)]
struct Settled {
    position: u64,
    delayed: Vec<DelayedEvent>,
    /// Events that were tried for too long.
    given_up: u64,
    /// Do new events wait because the receiver takes none?
    is_stuck: bool,
}

/// Decides what waits, and how far the others came.
///
/// If the receiver took something, what it did not take is delayed, so that others go on. If it took nothing, it is
/// probably the receiver: then nothing is delayed, and the position stays, unless a whole page is about so few people
/// that it may be their events after all.
fn settle(push: &EventPush, items: &[Item], sent: &Sent, now: OffsetDateTime, bounds: Bounds) -> Settled {
    let Bounds { reach, is_full } = bounds;
    let has_taken = sent.fates.iter().any(Fate::is_final);
    let (mut delayed, mut given_up) = (Vec::new(), 0);
    let mut held: Vec<String> = Vec::new();
    let both = || items.iter().zip(&sent.fates);
    for (item, fate) in both() {
        let Some(before) = item.delayed else { continue };
        let after = match fate {
            Fate::Taken | Fate::Refused => continue,
            Fate::Unsent => before,
            Fate::Failed if has_taken && now - before.since >= PATIENCE => {
                tracing::error!(
                    event.id = %item.event.id,
                    event.kind = item.event.kind.name(),
                    tries = before.tries.saturating_add(1),
                    "event given up: its receiver did not take it for a day"
                );
                given_up += 1;
                continue;
            }
            Fate::Failed => {
                let tries = before.tries.saturating_add(1);
                DelayedEvent { tries, next_at: now + pause_after(tries), ..before }
            }
        };
        held.push(subject(&item.event));
        delayed.push(after);
    }
    let fresh = || both().filter(|(item, _)| item.delayed.is_none());
    let is_open = |(item, fate): &(&Item, &Fate)| !fate.is_final() && !held.contains(&subject(&item.event));
    let has_open = fresh().any(|found| is_open(&found));
    let is_the_events = !sent.was_stopped && (has_taken || is_full);
    let mut position = if !has_open || is_the_events {
        reach
    } else {
        let taken = fresh().filter(|(_, fate)| fate.is_final()).map(|(item, _)| item.position);
        taken.max().unwrap_or(push.position)
    };
    let end = position;
    for (item, fate) in fresh().filter(|(item, fate)| item.position <= end && !fate.is_final()) {
        if delayed.len() >= MAX_DELAYED {
            tracing::error!("too many events wait for their receiver: the others wait too");
            position = item.position.saturating_sub(1);
            break;
        }
        let has_failed = *fate == Fate::Failed;
        let next_at = if has_failed { now + pause_after(1) } else { now };
        delayed.push(DelayedEvent { position: item.position, since: now, next_at, tries: has_failed.into() });
    }
    let is_stuck = position < reach && !has_taken;
    Settled { position, delayed, given_up, is_stuck }
}

/// The delayed events as they are now. Those that are not there any more are lost.
async fn delayed_items(
    context: &Context,
    push: &EventPush,
    round: &mut PushRound,
) -> Result<Vec<Item>, StoreError> {
    let mut items = Vec::new();
    for delayed in &push.delayed {
        // Two, because rows at positions before the first are reported as one.
        let found = context.storage.sealed_events(delayed.position.saturating_sub(1), 2).await?;
        match found.into_iter().find(|at| at.position() == delayed.position) {
            Some(at) => items.extend(item(at, Some(*delayed))),
            None => round.lost += 1,
        }
    }
    Ok(items)
}

/// A row that is not an event cannot be pushed.
fn item(at: EventAt, delayed: Option<DelayedEvent>) -> Option<Item> {
    match at {
        EventAt::Event(sealed) => Some(Item { position: sealed.position, event: sealed.event, delayed }),
        EventAt::Unreadable { position, problem } => {
            tracing::error!(position, problem, "event cannot be read, and is not pushed");
            None
        }
    }
}

/// The person an event is about. The events about one subject are pushed in their order.
fn subject(event: &Event) -> String {
    let person = event.person.map(|person| format!("person {person}"));
    let wallet = || event.wallet.as_ref().map(WalletAccount::caip10);
    let client = || event.client.map(|client| format!("client {client}"));
    person.or_else(wallet).or_else(client).unwrap_or_default()
}

async fn last_position(context: &Context) -> Result<u64, StoreError> {
    let last = context.storage.last_checkpoint().await?;
    Ok(last.map_or(0, |last| last.checkpoint.next().saturating_sub(1)))
}

fn pending(push: &EventPush, last: u64) -> u64 {
    last.saturating_sub(push.position) + count(push.delayed.len())
}

fn pending_after(settled: &Settled, last: u64) -> u64 {
    last.saturating_sub(settled.position) + count(settled.delayed.len())
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Two seconds after the first try, then twice as long each time.
fn pause_after(tries: u32) -> Duration {
    let doubled = tries.saturating_sub(1).min(10);
    Duration::seconds(2 << doubled).min(MAX_PAUSE)
}
