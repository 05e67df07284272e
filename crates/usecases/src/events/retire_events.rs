//! Events whose time is over are deleted, a checkpoint's events at a time. The checkpoints stay.
//!
//! First a new checkpoint says from which one on events are kept. Only when that is stored are events deleted. So
//! whoever verifies can tell events that were forgotten from events that somebody removed.

use countersign_domain::checkpoint::{MAX_EVENTS, SignedCheckpoint};
use countersign_ports::{CheckpointAt, ForgetEvents, StoreError};
use time::OffsetDateTime;

use super::seal_events::{FIRST, SealError, seal};
use crate::Context;

/// How many checkpoints one step reads, and how many it empties.
const STEP: u32 = 20;

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// How many events were deleted.
    pub events: u64,
    /// Is there probably more to do?
    pub more: bool,
}

/// Deletes events whose time is over, in one small step. If no events are kept any more, all are deleted.
pub async fn retire_events(context: &Context) -> Result<Retired, SealError> {
    let Some(last) = context.storage.last_checkpoint().await? else { return Ok(Retired::default()) };
    let (kept_from, is_last_word) = due(context, &last).await?;
    let mut latest = last;
    if kept_from > latest.checkpoint.kept_from {
        let fresh = context.storage.fresh_events(MAX_EVENTS).await?;
        match seal(context, Some(&latest), fresh, kept_from).await? {
            Some(signed) => latest = signed,
            None => return Ok(Retired { events: 0, more: true }),
        }
    }
    let before = first_position(context, &latest).await?;
    let events = context.storage.forget_events(ForgetEvents { before, checkpoints: STEP }).await?;
    Ok(Retired { events, more: events > 0 || !is_last_word })
}

/// The number of the first checkpoint whose events are still kept, and whether all that are due were looked at.
async fn due(context: &Context, last: &SignedCheckpoint) -> Result<(u64, bool), StoreError> {
    let kept_from = last.checkpoint.kept_from;
    let Some(retention) = context.policy.events.retention else {
        let is_all_gone = kept_from > last.checkpoint.number;
        // Also those of the checkpoint that will say so.
        let none = last.checkpoint.number.saturating_add(2);
        return Ok((if is_all_gone { kept_from } else { none }, true));
    };
    let now: OffsetDateTime = context.clock.now();
    let candidates = context.storage.checkpoints(kept_from.saturating_sub(1), STEP).await?;
    let is_over = |at: &&CheckpointAt| match at {
        CheckpointAt::Checkpoint(signed) => signed.checkpoint.sealed_at + retention <= now,
        CheckpointAt::Unreadable { .. } => false,
    };
    let over = candidates.iter().take_while(is_over).count();
    let over = u64::try_from(over).unwrap_or(0);
    Ok((kept_from.saturating_add(over).max(FIRST), over < u64::from(STEP)))
}

/// The position of the first event that is kept.
async fn first_position(context: &Context, last: &SignedCheckpoint) -> Result<u64, StoreError> {
    let kept_from = last.checkpoint.kept_from;
    if kept_from > last.checkpoint.number {
        return Ok(last.checkpoint.next());
    }
    let found = context.storage.checkpoints(kept_from.saturating_sub(1), 1).await?;
    Ok(match found.first() {
        Some(CheckpointAt::Checkpoint(signed)) => signed.checkpoint.first,
        // Nothing is deleted on the word of a row that makes no sense.
        Some(CheckpointAt::Unreadable { .. }) | None => 0,
    })
}
