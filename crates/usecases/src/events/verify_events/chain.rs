//! The chain of checkpoints: numbers without a gap, each with the hash of the one before, and a last one that a
//! key of the server signed.

use std::collections::BTreeMap;

use countersign_domain::checkpoint::{Checkpoint, Digest256, SignedCheckpoint};
use countersign_ports::{CheckpointAt, CheckpointRead, EventStore, StoreError};

use super::{Broken, Finding, PAGE, Progress, VerifyError};

/// A chain that holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    /// How many checkpoints it has.
    pub(super) length: u64,
    /// The number of the first checkpoint whose events are kept.
    pub(super) kept_from: u64,
    /// The position after the last sealed event.
    pub(super) next: u64,
    /// How many events are kept.
    pub(super) kept: u64,
    pub(super) keys_gone: u64,
    /// Did a key that was withdrawn sign the last one?
    pub(super) ends_withdrawn: bool,
}

/// Who signed a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignedBy {
    Server,
    WithdrawnKey,
    /// Nobody knows.
    KeyGone,
}

pub(super) async fn walk_chain(
    storage: &(impl EventStore + ?Sized),
    read: &impl Fn(&str) -> Option<CheckpointRead>,
    saved: &BTreeMap<u64, Digest256>,
    tell: &mut impl FnMut(Progress),
) -> Result<Chain, VerifyError> {
    let mut chain = Chain { kept_from: 1, next: 1, ..Chain::default() };
    let mut previous = Digest256::NOTHING;
    let mut last_signed_by = SignedBy::Server;
    loop {
        let page = storage.checkpoints(chain.length, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for at in page {
            let number = chain.length + 1;
            let broken = |finding| Broken { checkpoint: number, finding };
            let signed = match at {
                CheckpointAt::Unreadable { number: found, .. } if found > number => {
                    return Err(broken(Finding::Missing).into());
                }
                CheckpointAt::Unreadable { problem, .. } => {
                    return Err(broken(Finding::Unreadable(problem)).into());
                }
                CheckpointAt::Checkpoint(signed) => signed,
            };
            last_signed_by = judge(&signed, number, &chain, previous, read).map_err(broken)?;
            previous = signed.hash();
            if saved.get(&number).is_some_and(|saved| *saved != previous) {
                return Err(broken(Finding::OtherWasSaved).into());
            }
            let checkpoint = signed.checkpoint;
            chain = Chain {
                length: number,
                kept_from: checkpoint.kept_from,
                next: checkpoint.next(),
                keys_gone: chain.keys_gone + u64::from(last_signed_by == SignedBy::KeyGone),
                ends_withdrawn: last_signed_by == SignedBy::WithdrawnKey,
                kept: 0,
            };
        }
        tell(Progress { checkpoints: chain.length, ..Progress::default() });
    }
    if last_signed_by == SignedBy::KeyGone {
        return Err(Broken { checkpoint: chain.length, finding: Finding::LastKeyGone }.into());
    }
    if let Some((number, _)) = saved.range(chain.length + 1..).next() {
        return Err(Broken { checkpoint: *number, finding: Finding::SavedIsGone }.into());
    }
    chain.kept = kept_in(storage, &chain).await?;
    Ok(chain)
}

/// Judges one checkpoint. Returns who signed it.
fn judge(
    signed: &SignedCheckpoint,
    number: u64,
    chain: &Chain,
    previous: Digest256,
    read: &impl Fn(&str) -> Option<CheckpointRead>,
) -> Result<SignedBy, Finding> {
    let checkpoint = &signed.checkpoint;
    if checkpoint.number != number {
        return Err(Finding::Missing);
    }
    let (signed_by, said) = match read(&signed.jws) {
        Some(CheckpointRead::Verified(said)) => (SignedBy::Server, said),
        Some(CheckpointRead::Withdrawn(said)) => (SignedBy::WithdrawnKey, said),
        Some(CheckpointRead::KeyGone(said)) => (SignedBy::KeyGone, said),
        None => return Err(Finding::Forged),
    };
    if said != *checkpoint {
        return Err(Finding::Forged);
    }
    let Checkpoint { first, kept_from, .. } = *checkpoint;
    let follows = checkpoint.previous == previous
        && first == chain.next
        && (chain.kept_from..=number + 1).contains(&kept_from);
    if follows { Ok(signed_by) } else { Err(Finding::Unchained) }
}

/// How many events are sealed since the first checkpoint whose events are kept.
async fn kept_in(storage: &(impl EventStore + ?Sized), chain: &Chain) -> Result<u64, StoreError> {
    if chain.kept_from > chain.length {
        return Ok(0);
    }
    let found = storage.checkpoints(chain.kept_from.saturating_sub(1), 1).await?;
    Ok(match found.first() {
        Some(CheckpointAt::Checkpoint(signed)) => chain.next.saturating_sub(signed.checkpoint.first),
        Some(CheckpointAt::Unreadable { .. }) | None => 0,
    })
}
