//! Events whose time is over are deleted, a checkpoint's events at a time. The checkpoints stay.
//!
//! First a new checkpoint says from which one on events are kept. Only when that is stored are events
//! deleted. So verification can distinguish expired events from removed ones.
//!
//! How old events are, and which of them may be gone, is only what the server signed.

use countersign_domain::checkpoint::{MAX_EVENTS, SignedCheckpoint};
use countersign_domain::forgetting::Past;
use countersign_ports::ForgetEvents;
use time::Duration;

use super::authenticate::{authentic_last, authentic_run};
use super::seal_error::SealError;
use super::seal_events::{FIRST, Kept, seal};
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
pub async fn retire_events(context: &Context, past: Past) -> Result<Retired, SealError> {
    let Some(last) = authentic_last(context).await? else { return Ok(Retired::default()) };
    let now = context.clock.now();
    let (kept_from, is_last_word) = due(context, past, &last).await?;
    let mut latest = last;
    if kept_from > latest.checkpoint.kept_from {
        let fresh = context.storage.fresh_events(MAX_EVENTS).await?;
        let retention = Some(context.policy.events.retention.unwrap_or(Duration::ZERO));
        let kept = Kept { from: kept_from, retention };
        match seal(context, now, Some(&latest), fresh, kept).await? {
            Some(signed) => latest = signed,
            None => return Ok(Retired { events: 0, more: true }),
        }
    }
    let before = first_position(context, &latest).await?;
    let events = context.storage.forget_events(ForgetEvents { before, checkpoints: STEP }).await?;
    Ok(Retired { events, more: events > 0 || !is_last_word })
}

/// The number of the first checkpoint whose events are still kept, and whether all that are due were looked at.
async fn due(context: &Context, past: Past, last: &SignedCheckpoint) -> Result<(u64, bool), SealError> {
    let kept_from = last.checkpoint.kept_from;
    let Some(retention) = context.policy.events.retention else {
        let is_all_gone = kept_from > last.checkpoint.number;
        // Also those of the checkpoint that will say so.
        let none = last.checkpoint.number.saturating_add(2);
        return Ok((if is_all_gone { kept_from } else { none }, true));
    };
    let before = past.kept_for(retention).time();
    let candidates = context.storage.checkpoints(kept_from.saturating_sub(1), STEP).await?;
    let candidates = authentic_run(context, candidates).await?;
    let is_over = |signed: &&SignedCheckpoint| signed.checkpoint.sealed_at <= before;
    let over = candidates.iter().take_while(is_over).count();
    let over = u64::try_from(over).unwrap_or(0);
    Ok((kept_from.saturating_add(over).max(FIRST), over < u64::from(STEP)))
}

/// The position of the first event that is kept.
async fn first_position(context: &Context, last: &SignedCheckpoint) -> Result<u64, SealError> {
    let kept_from = last.checkpoint.kept_from;
    if kept_from > last.checkpoint.number {
        return Ok(last.checkpoint.next());
    }
    let found = context.storage.checkpoints(kept_from.saturating_sub(1), 1).await?;
    // Nothing is deleted on the word of a row that makes no sense, or that is not the server's.
    Ok(authentic_run(context, found).await?.first().map_or(0, |signed| signed.checkpoint.first))
}
