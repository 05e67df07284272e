//! Several events are sent at a time, but those about one subject one after the other.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use time::{Duration, OffsetDateTime};

use super::delivery::{Delivery, deliver};
use super::{EventReceiver, Fate, Item};
use crate::Context;

/// How many events are sent at a time.
const AT_ONCE: usize = 8;
/// After this many failures in a row the receiver is down, and no more is sent.
const DOWN_AFTER: u32 = 8;
/// After this time no more is sent in this round. What was sent is noted, and the lease is extended.
const ROUND: Duration = Duration::seconds(15);

/// The events about one subject.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The indexes of the items, in the order of their positions.
    pub(super) items: Vec<usize>,
    /// Is the first one not due yet?
    pub(super) waits: bool,
}

/// What became of the items.
#[derive(Debug)]
pub(super) struct Sent {
    /// In the order of the items.
    pub(super) fates: Vec<Fate>,
    /// Was something not sent for lack of time, or because the receiver is down?
    pub(super) was_stopped: bool,
    /// Is the receiver down?
    pub(super) is_down: bool,
    /// Why something failed.
    pub(super) reason: Option<String>,
}

/// Sends the items of all lanes.
pub(super) async fn send_lanes(
    context: &Context,
    receiver: &EventReceiver,
    items: &[Item],
    lanes: Vec<Lane>,
) -> Sent {
    let until = context.clock.now() + ROUND;
    let fates = vec![Fate::Unsent; items.len()];
    let sent = Sent { fates, was_stopped: false, is_down: false, reason: None };
    let shared = Mutex::new(Shared { lanes: lanes.into_iter(), streak: 0, until, sent });
    let workers = (0..AT_ONCE).map(|_| -> Worker<'_> { Box::pin(work(context, receiver, items, &shared)) });
    all(workers.collect()).await;
    shared.into_inner().unwrap_or_else(PoisonError::into_inner).sent
}

type Worker<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Waits until all have ended.
async fn all(mut workers: Vec<Worker<'_>>) {
    poll_fn(|context| {
        workers.retain_mut(|worker| worker.as_mut().poll(context).is_pending());
        if workers.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[derive(Debug)]
struct Shared {
    lanes: std::vec::IntoIter<Lane>,
    /// Failures since the receiver last took something.
    streak: u32,
    until: OffsetDateTime,
    sent: Sent,
}

impl Shared {
    /// May another event be sent? If not, one stays unsent.
    fn goes_on(&mut self, now: OffsetDateTime) -> bool {
        self.sent.was_stopped |= self.sent.is_down || now >= self.until;
        !self.sent.was_stopped
    }

    fn note(&mut self, index: usize, delivery: Delivery) -> bool {
        let fate = match delivery {
            Delivery::Taken => Fate::Taken,
            Delivery::Refused => Fate::Refused,
            Delivery::Failed(reason) => {
                self.sent.reason = Some(reason);
                Fate::Failed
            }
        };
        let is_final = fate.is_final();
        self.streak = if is_final { 0 } else { self.streak + 1 };
        self.sent.is_down = self.streak >= DOWN_AFTER;
        if let Some(slot) = self.sent.fates.get_mut(index) {
            *slot = fate;
        }
        is_final
    }
}

/// Sends lane after lane. A lane ends where something was not taken.
async fn work(context: &Context, receiver: &EventReceiver, items: &[Item], shared: &Mutex<Shared>) {
    loop {
        let Some(lane) = locked(shared).lanes.next() else { return };
        for index in lane.items {
            let Some(item) = items.get(index) else { break };
            if !locked(shared).goes_on(context.clock.now()) {
                return;
            }
            let delivery = deliver(context, receiver, &item.event).await;
            if !locked(shared).note(index, delivery) {
                break;
            }
        }
    }
}

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
