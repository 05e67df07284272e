//! Fresh events are sealed: they get positions and a checkpoint that the server signs. What happened on which day is
//! counted with it.

use std::collections::BTreeMap;

use countersign_domain::checkpoint::{
    Checkpoint, CheckpointClaims, Digest256, MAX_EVENTS, Salt, SealedEvent, SignedCheckpoint, merkle_root,
};
use countersign_domain::event::{Event, EventKind};
use countersign_ports::{DayCount, SealEvents, Sealed};
use time::{Date, Duration, OffsetDateTime, UtcOffset};

use super::authenticate::authentic_last;
use super::seal_error::SealError;
use crate::Context;

/// The number of the first checkpoint.
pub const FIRST: u64 = 1;

/// Which events are kept from a checkpoint on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The number of the first checkpoint whose events are kept.
    pub(super) from: u64,
    /// For which retention this is more than the checkpoint before says.
    pub(super) retention: Option<Duration>,
}

/// What a round of sealing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealedRound {
    /// How many events got a checkpoint.
    pub events: u32,
    /// Are there probably more?
    pub more: bool,
}

/// Seals the oldest fresh events in one checkpoint, if there are any. Replicas can do it at the same time:
/// one of them learns that it was too late.
pub async fn seal_events(context: &Context) -> Result<SealedRound, SealError> {
    let fresh = context.storage.fresh_events(MAX_EVENTS).await?;
    if fresh.is_empty() {
        return Ok(SealedRound::default());
    }
    let last = authentic_last(context).await?;
    let from = last.as_ref().map_or(FIRST, |last| last.checkpoint.kept_from);
    let kept = Kept { from, retention: None };
    let is_full = fresh.len() >= usize::try_from(MAX_EVENTS).unwrap_or(usize::MAX);
    match seal(context, context.clock.now(), last.as_ref(), fresh, kept).await? {
        Some(signed) => Ok(SealedRound { events: signed.checkpoint.events, more: is_full }),
        None => Ok(SealedRound { events: 0, more: true }),
    }
}

/// Seals these events after the last checkpoint, which is authentic. `None` if something changed in the meantime.
pub(super) async fn seal(
    context: &Context,
    now: OffsetDateTime,
    last: Option<&SignedCheckpoint>,
    fresh: Vec<Event>,
    kept: Kept,
) -> Result<Option<SignedCheckpoint>, SealError> {
    let first = last.map_or(FIRST, |last| last.checkpoint.next());
    let counts = count(&fresh);
    // All salts in one draw: each draw asks the operating system.
    let mut salts = vec![[0; 16]; fresh.len()];
    context.entropy.fill(salts.as_flattened_mut());
    let events: Vec<_> = (first..)
        .zip(fresh)
        .zip(salts)
        .map(|((position, event), salt)| SealedEvent::seal(position, event, Salt::new(salt)))
        .collect();
    let leaves: Vec<_> = events.iter().map(SealedEvent::leaf).collect();
    let checkpoint = Checkpoint {
        number: last.map_or(FIRST, |last| last.checkpoint.number.saturating_add(1)),
        // As whole seconds, because that is what is signed.
        sealed_at: now.truncate_to_second(),
        first,
        events: u32::try_from(events.len()).unwrap_or(u32::MAX),
        root: merkle_root(&leaves),
        previous: last.map_or(Digest256::NOTHING, SignedCheckpoint::hash),
        kept_from: kept.from,
    };
    let claims = CheckpointClaims { retention: kept.retention, ..CheckpointClaims::of(checkpoint.clone()) };
    let jws = context.signer.sign_checkpoint(&claims, last, &context.keys.record).await?;
    let signed = SignedCheckpoint { checkpoint, jws };
    let command = SealEvents { checkpoint: signed.clone(), events, counts };
    Ok(match context.storage.seal_events(command).await? {
        Sealed::Sealed => {
            context.record.remember(&signed);
            Some(signed)
        }
        Sealed::Stale => None,
    })
}

/// Counts events by day, kind, and family of the wallet.
fn count(events: &[Event]) -> Vec<DayCount> {
    let mut counts: BTreeMap<(Date, EventKind, &str), u64> = BTreeMap::new();
    for event in events {
        let day = event.id.at_time().to_offset(UtcOffset::UTC).date();
        let family = event.wallet.as_ref().map_or("", |wallet| wallet.family.as_str());
        *counts.entry((day, event.kind, family)).or_default() += 1;
    }
    let counted = counts.into_iter().map(|((day, kind, family), count)| DayCount {
        day,
        kind,
        family: family.to_owned(),
        count,
    });
    counted.collect()
}
