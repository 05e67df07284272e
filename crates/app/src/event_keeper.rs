//! Seals fresh events, and deletes those whose time is over, in the background. One replica does it for all.

use std::time::Duration;

use countersign_ports::{EntropyExt, TakeLease};
use countersign_usecases::Context;
use countersign_usecases::events::retire_events::retire_events;
use countersign_usecases::events::seal_events::{SealError, seal_events};
use tokio::time::{Instant, sleep};

use crate::failure::chain;
use crate::upkeep::jittered;

/// How often fresh events are sealed, on average.
const EVERY: Duration = Duration::from_secs(8);
/// The same if they are pushed, so that they arrive soon.
const EVERY_TO_PUSH: Duration = Duration::from_secs(2);
/// How often to look for events whose time is over.
const RETIRE_EVERY: Duration = Duration::from_mins(1);
/// How long the lease is taken for. A replica that stops is followed by another after this time.
const LEASE: time::Duration = time::Duration::seconds(30);
/// The pause between two steps, in which others get their turn.
const PAUSE: Duration = Duration::from_millis(20);

/// Seals and deletes events in the background.
pub(crate) struct EventKeeper {
    context: Context,
    holder: [u8; 16],
    every: Duration,
}

impl EventKeeper {
    /// Are events pushed?
    pub(crate) fn new(context: Context, pushes: bool) -> Self {
        let holder = context.entropy.bytes();
        Self { context, holder, every: if pushes { EVERY_TO_PUSH } else { EVERY } }
    }

    /// Seals and deletes for as long as the server runs.
    pub(crate) async fn keep(self) {
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
                Err(error) => {
                    tracing::warn!(error = chain(&error), "events could not be sealed yet");
                }
            }
        }
    }

    async fn round(&self, retires: bool) -> Result<Round, SealError> {
        if !self.has_lease().await? {
            return Ok(Round::default());
        }
        while self.context.policy.events.retention.is_some() && seal_events(&self.context).await?.more {
            if !self.has_lease().await? {
                return Ok(Round::default());
            }
            sleep(PAUSE).await;
        }
        let deleted = if retires { self.retire().await? } else { 0 };
        Ok(Round { is_ours: true, deleted })
    }

    /// Deletes events whose time is over, step by step. Returns how many.
    async fn retire(&self) -> Result<u64, SealError> {
        let mut deleted = 0;
        loop {
            let step = retire_events(&self.context).await?;
            deleted += step.events;
            if !step.more || !self.has_lease().await? {
                return Ok(deleted);
            }
            sleep(PAUSE).await;
        }
    }

    /// Takes the lease, or keeps it.
    async fn has_lease(&self) -> Result<bool, SealError> {
        let now = self.context.clock.now();
        let command = TakeLease { name: "events", holder: self.holder, now, until: now + LEASE };
        Ok(self.context.storage.take_lease(command).await?)
    }
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Did this replica have the lease?
    is_ours: bool,
    deleted: u64,
}
