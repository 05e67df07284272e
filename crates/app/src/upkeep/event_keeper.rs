//! Seals fresh events, and deletes those whose time is over, in the background. One replica does it for all.

use std::sync::Arc;
use std::time::Duration;

use countersign_ports::EntropyExt;
use countersign_usecases::Context;
use countersign_usecases::events::authenticate::authentic_last;
use countersign_usecases::events::hosts::keep_host_noted;
use countersign_usecases::events::retire_events::retire_events;
use countersign_usecases::events::seal_error::SealError;
use countersign_usecases::events::seal_events::seal_events;
use tokio::time::{Instant, sleep};

use crate::failure::chain;
use crate::upkeep::clock_watch::ClockWatch;
use crate::upkeep::lease::Lease;
use crate::upkeep::upkeeper::jittered;

/// How often fresh events are sealed, on average.
const EVERY: Duration = Duration::from_secs(8);
/// The same if they are pushed, so that they arrive soon.
const EVERY_TO_PUSH: Duration = Duration::from_secs(2);
/// How often to look for events whose time is over.
const RETIRE_EVERY: Duration = Duration::from_mins(1);
/// How often in a row a round tries to seal events that changed since they were read. If they always seem to, the next
/// round tries again.
const STALE: u32 = 5;
/// The pause between two steps, in which others get their turn.
const PAUSE: Duration = Duration::from_millis(20);

/// Seals and deletes events in the background.
pub(crate) struct EventKeeper {
    context: Context,
    /// Events are deleted only when every clock that is known says that their time is over.
    clock: Arc<ClockWatch>,
    lease: Lease,
    every: Duration,
}

impl EventKeeper {
    /// Are events pushed?
    pub(crate) const fn new(context: Context, clock: Arc<ClockWatch>, lease: Lease, pushes: bool) -> Self {
        Self { context, clock, lease, every: if pushes { EVERY_TO_PUSH } else { EVERY } }
    }

    /// Seals and deletes for as long as the server runs.
    pub(crate) async fn keep(self) {
        if let Err(error) = authentic_last(&self.context).await {
            tell(&error);
        }
        let mut retired_at: Option<Instant> = None;
        loop {
            sleep(jittered(self.every, self.context.entropy.bytes())).await;
            let retires = retired_at.is_none_or(|at| at.elapsed() >= RETIRE_EVERY);
            match self.round(retires).await {
                Ok(Round { is_ours: true, deleted }) if retires => {
                    retired_at = Some(Instant::now());
                    if deleted > 0 {
                        tracing::info!(events = deleted, "events deleted because their time was over");
                    }
                }
                Ok(_) => {}
                Err(error) => tell(&error),
            }
        }
    }

    async fn round(&self, retires: bool) -> Result<Round, SealError> {
        if !self.lease.take().await? {
            return Ok(Round::default());
        }
        let mut stale = 0;
        while self.context.policy.events.retention.is_some() && stale < STALE {
            let sealed = seal_events(&self.context).await?;
            if !sealed.more {
                break;
            }
            stale = if sealed.events == 0 { stale + 1 } else { 0 };
            if !self.lease.take().await? {
                return Ok(Round::default());
            }
            sleep(PAUSE).await;
        }
        let deleted = if retires { self.retire().await? } else { 0 };
        Ok(Round { is_ours: true, deleted })
    }

    /// Deletes events whose time is over, step by step. Returns how many.
    async fn retire(&self) -> Result<u64, SealError> {
        keep_host_noted(&self.context).await?;
        let past = self.clock.look(&*self.context.storage).await?;
        let mut deleted = 0;
        loop {
            let step = retire_events(&self.context, past).await?;
            deleted += step.events;
            if !step.more || !self.lease.take().await? {
                return Ok(deleted);
            }
            sleep(PAUSE).await;
        }
    }
}

/// Says why events wait.
fn tell(error: &SealError) {
    match error {
        SealError::Unauthentic(_) => tracing::error!(
            error = chain(error),
            "events are not sealed: the record of events is not as this server left it; see `countersign event verify`, \
             and docs/events.md for what to do"
        ),
        SealError::Signer(_) | SealError::Store(_) => {
            tracing::warn!(error = chain(error), "events could not be sealed yet");
        }
    }
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Did this replica have the lease?
    is_ours: bool,
    deleted: u64,
}
