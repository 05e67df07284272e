//! Fresh events are sealed: they get positions and a checkpoint that the server signs. What happened on which day is
//! counted with it.

use std::collections::BTreeMap;

use countersign_domain::checkpoint::{
    Checkpoint, Digest256, MAX_EVENTS, Salt, SealedEvent, SignedCheckpoint, merkle_root,
};
use countersign_domain::event::{Event, EventKind};
use countersign_ports::{DayCount, EntropyExt, SealEvents, Sealed, SignerError, StoreError};
use time::{Date, UtcOffset};

use crate::Context;

/// The number of the first checkpoint.
pub(super) const FIRST: u64 = 1;

/// Why events were not sealed. They stay fresh.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The checkpoint could not be signed.
    #[error("checkpoint could not be signed")]
    Signer(#[from] SignerError),
    /// The events could not be read or stored.
    #[error("events could not be read or sealed")]
    Store(#[from] StoreError),
}

/// What a round of sealing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealedRound {
    /// How many events got a checkpoint.
    pub events: u32,
    /// Are there probably more?
    pub more: bool,
}

/// Seals the oldest fresh events in one checkpoint, if there are any. Replicas that do it at once do no harm: one
/// of them is told that it was too late.
pub async fn seal_events(context: &Context) -> Result<SealedRound, SealError> {
    let fresh = context.storage.fresh_events(MAX_EVENTS).await?;
    if fresh.is_empty() {
        return Ok(SealedRound::default());
    }
    let last = context.storage.last_checkpoint().await?;
    let kept_from = last.as_ref().map_or(FIRST, |last| last.checkpoint.kept_from);
    let is_full = fresh.len() >= usize::try_from(MAX_EVENTS).unwrap_or(usize::MAX);
    match seal(context, last.as_ref(), fresh, kept_from).await? {
        Some(signed) => Ok(SealedRound { events: signed.checkpoint.events, more: is_full }),
        None => Ok(SealedRound { events: 0, more: true }),
    }
}

/// Seals these events after the last checkpoint. `None` if something changed in the meantime.
pub(super) async fn seal(
    context: &Context,
    last: Option<&SignedCheckpoint>,
    fresh: Vec<Event>,
    kept_from: u64,
) -> Result<Option<SignedCheckpoint>, SealError> {
    let first = last.map_or(FIRST, |last| last.checkpoint.next());
    let counts = count(&fresh);
    let events: Vec<_> = (first..)
        .zip(fresh)
        .map(|(position, event)| SealedEvent::seal(position, event, Salt::new(context.entropy.bytes())))
        .collect();
    let leaves: Vec<_> = events.iter().map(SealedEvent::leaf).collect();
    let checkpoint = Checkpoint {
        number: last.map_or(FIRST, |last| last.checkpoint.number.saturating_add(1)),
        // As whole seconds, because that is what is signed.
        sealed_at: context.clock.now().truncate_to_second(),
        first,
        events: u32::try_from(events.len()).unwrap_or(u32::MAX),
        root: merkle_root(&leaves),
        previous: last.map_or(Digest256::NOTHING, SignedCheckpoint::hash),
        kept_from,
    };
    let jws = context.signer.sign_checkpoint(&checkpoint).await?;
    let signed = SignedCheckpoint { checkpoint, jws };
    let command = SealEvents { checkpoint: signed.clone(), events, counts };
    Ok(match context.storage.seal_events(command).await? {
        Sealed::Sealed => Some(signed),
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
