//! The chain of checkpoints: numbers without a gap, each with the hash of the one before, and each made by the server.
//!
//! With the secret, every checkpoint that has a MAC must have the right one. Those of builds before there were MACs have
//! none: the server builds only on one that a published key signed, so the first checkpoint with a MAC vouches for all
//! before it. Without the secret, the signatures are verified with keys that are given or that the record names; a
//! checkpoint with a MAC vouches for the key of the one before, because the server authenticated that one.

use std::collections::{BTreeMap, VecDeque};

use countersign_domain::checkpoint::{Checkpoint, Digest256, SignedCheckpoint};
use countersign_ports::{
    CheckpointAt, CheckpointProof, CheckpointRead, EventStore, RecordReader, StoreError,
};
use time::{Duration, OffsetDateTime};

use super::{Accepted, Broken, Finding, PAGE, Progress, VerifyError};

/// A chain that holds.
#[derive(Clone, Debug, Default)]
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
    /// Where operators decided to go on.
    pub(super) accepted: Vec<Accepted>,
    /// The shortest retention for which events were deleted.
    pub(super) retention: Option<Duration>,
    /// From which checkpoint on the given keys, and those that the record names, verify it.
    pub(super) reach: u64,
    /// The position from which on the deletion of an account has a proof. No event is there if the last build made none.
    pub(super) proven_from: u64,
    /// The hash over all that was read, to notice what is altered before it is read again.
    pub(super) transcript: Transcript,
}

/// A hash over checkpoints in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transcript(Digest256);

impl Default for Transcript {
    fn default() -> Self {
        Self(Digest256::NOTHING)
    }
}

impl Transcript {
    /// Adds a checkpoint: what is signed, and what the columns say.
    pub(super) fn add(&mut self, signed: &SignedCheckpoint) {
        let Checkpoint { number, sealed_at, first, events, root, previous, kept_from } = &signed.checkpoint;
        let line = format!(
            "{:?} {number} {} {first} {events} {root} {previous} {kept_from} {}",
            self.0,
            sealed_at.unix_timestamp_nanos(),
            signed.hash()
        );
        self.0 = Digest256::of(line.as_bytes());
    }
}

/// The checkpoint before the one that is judged.
struct Link {
    kid: String,
    proof: CheckpointProof,
}

/// The way through the chain.
struct Walk {
    chain: Chain,
    previous: Digest256,
    link: Option<Link>,
    /// When the checkpoints were made whose events are kept, from `times_from` on.
    times: VecDeque<OffsetDateTime>,
    times_from: u64,
    /// The first checkpoint that does not hold, unless an operator accepts it further on.
    doubt: Option<Broken>,
    has_secret: bool,
}

pub(super) async fn walk_chain(
    storage: &(impl EventStore + ?Sized),
    reader: &mut dyn RecordReader,
    saved: &BTreeMap<u64, Digest256>,
    tell: &mut impl FnMut(Progress),
) -> Result<Chain, VerifyError> {
    let mut walk = Walk::new(reader.record_key().is_some());
    loop {
        let page = storage.checkpoints(walk.chain.length, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for at in page {
            let number = walk.chain.length + 1;
            let signed = match at {
                CheckpointAt::Unreadable { number: found, .. } if found > number => {
                    return Err(walk.broken(number, Finding::Missing).into());
                }
                CheckpointAt::Unreadable { problem, .. } => {
                    return Err(walk.broken(number, Finding::Unreadable(problem)).into());
                }
                CheckpointAt::Checkpoint(signed) if signed.checkpoint.number != number => {
                    return Err(walk.broken(number, Finding::Missing).into());
                }
                CheckpointAt::Checkpoint(signed) => *signed,
            };
            if saved.get(&number).is_some_and(|saved| *saved != signed.hash()) {
                return Err(walk.broken(number, Finding::OtherWasSaved).into());
            }
            walk.step(signed, reader);
        }
        tell(Progress { checkpoints: walk.chain.length, ..Progress::default() });
    }
    let mut chain = walk.end(saved)?;
    chain.kept = kept_in(storage, &chain).await?;
    Ok(chain)
}

impl Walk {
    fn new(has_secret: bool) -> Self {
        let chain = Chain { kept_from: 1, next: 1, reach: 1, proven_from: u64::MAX, ..Chain::default() };
        Self {
            chain,
            previous: Digest256::NOTHING,
            link: None,
            times: VecDeque::new(),
            times_from: 1,
            doubt: None,
            has_secret,
        }
    }

    /// What is wrong: the first thing.
    fn broken(&mut self, checkpoint: u64, finding: Finding) -> Broken {
        self.doubt.take().unwrap_or(Broken { checkpoint, finding })
    }

    fn step(&mut self, signed: SignedCheckpoint, reader: &mut dyn RecordReader) {
        let number = signed.checkpoint.number;
        let read = reader.read(&signed.jws).filter(|read| read.says.checkpoint == signed.checkpoint);
        let follows = self.follows(&signed.checkpoint, read.as_ref());
        self.chain.transcript.add(&signed);
        self.previous = signed.hash();
        let finding = match &read {
            None => Some(Finding::Forged),
            Some(_) if !follows => Some(Finding::Unchained),
            Some(read) => self.judge_deletion(read).err(),
        };
        match (&read, finding) {
            (_, Some(finding)) => {
                self.doubt.get_or_insert(Broken { checkpoint: number, finding });
            }
            (Some(CheckpointRead { says, proof, .. }), None) => {
                if let Some(by) = &says.accepted_by
                    && (*proof == CheckpointProof::Secret || !self.has_secret)
                {
                    let from = self.doubt.take().map_or(number, |doubt| doubt.checkpoint);
                    self.chain.accepted.push(Accepted { from, checkpoint: number, by: by.clone() });
                    self.chain.proven_from = signed.checkpoint.next();
                }
                if read.as_ref().is_some_and(|read| read.has_mac) && self.chain.proven_from == u64::MAX {
                    self.chain.proven_from = signed.checkpoint.next();
                }
            }
            (None, None) => {}
        }
        self.extend_reach(number, read.as_ref());
        let Checkpoint { kept_from, sealed_at, .. } = signed.checkpoint;
        self.times.push_back(sealed_at);
        while self.times_from < kept_from && self.times.pop_front().is_some() {
            self.times_from += 1;
        }
        self.link = Some(match read {
            Some(CheckpointRead { kid, proof, .. }) => Link { kid, proof },
            None => Link { kid: String::new(), proof: CheckpointProof::Nothing },
        });
        self.chain.length = number;
        self.chain.kept_from = kept_from;
        self.chain.next = signed.checkpoint.next();
    }

    /// Does it follow the one before? Only where an operator accepted something can fewer events be gone than before.
    fn follows(&self, checkpoint: &Checkpoint, read: Option<&CheckpointRead>) -> bool {
        let accepts = read.is_some_and(|read| read.says.accepted_by.is_some());
        let least = if accepts { 1 } else { self.chain.kept_from };
        checkpoint.previous == self.previous
            && checkpoint.first == self.chain.next
            && (least..=checkpoint.number.saturating_add(1)).contains(&checkpoint.kept_from)
    }

    /// If it lets events be deleted: for which retention, and was their time over, by the times that were signed? Builds
    /// before there were MACs did not say so.
    fn judge_deletion(&mut self, read: &CheckpointRead) -> Result<(), Finding> {
        let says = &read.says;
        let Checkpoint { kept_from, sealed_at, .. } = says.checkpoint;
        if kept_from <= self.chain.kept_from {
            return Ok(());
        }
        let Some(retention) = says.retention else {
            return if read.has_mac { Err(Finding::DeletedEarly) } else { Ok(()) };
        };
        self.chain.retention = Some(self.chain.retention.map_or(retention, |least| least.min(retention)));
        if retention <= Duration::ZERO {
            return Ok(());
        }
        let gone = usize::try_from(kept_from.saturating_sub(self.times_from)).unwrap_or(usize::MAX);
        // It cannot let its own events be deleted: they are new.
        let is_own = kept_from > says.checkpoint.number;
        let mut times = self.times.iter().take(gone);
        if is_own || !times.all(|time| time.saturating_add(retention) <= sealed_at) {
            return Err(Finding::DeletedEarly);
        }
        Ok(())
    }

    /// How far back do the public keys verify the record?
    fn extend_reach(&mut self, number: u64, read: Option<&CheckpointRead>) {
        let Some(read) = read else {
            self.chain.reach = number.saturating_add(1);
            return;
        };
        if read.proof == CheckpointProof::Nothing {
            self.chain.keys_gone += 1;
            self.chain.reach = number.saturating_add(1);
            return;
        }
        let vouches = read.has_mac && read.says.accepted_by.is_none();
        let is_vouched = self.link.as_ref().is_none_or(|before| {
            before.kid == read.kid || before.proof == CheckpointProof::PublishedKey || vouches
        });
        if !is_vouched {
            self.chain.reach = number;
        }
    }

    fn end(mut self, saved: &BTreeMap<u64, Digest256>) -> Result<Chain, Broken> {
        if let Some(doubt) = self.doubt {
            return Err(doubt);
        }
        let checkpoint = self.chain.length;
        self.chain.reach = self.chain.reach.min(checkpoint);
        match self.link.as_ref().map(|link| link.proof) {
            None | Some(CheckpointProof::Secret | CheckpointProof::PublishedKey) => {}
            Some(CheckpointProof::WithdrawnKey) => self.chain.ends_withdrawn = true,
            Some(CheckpointProof::RecordedKey | CheckpointProof::Nothing) => {
                return Err(Broken { checkpoint, finding: Finding::LastKeyGone });
            }
        }
        if let Some((number, _)) = saved.range(checkpoint + 1..).next() {
            return Err(Broken { checkpoint: *number, finding: Finding::SavedIsGone });
        }
        if !self.has_secret && self.chain.reach > self.chain.kept_from {
            let finding = Finding::KeysEnd { from: self.chain.reach };
            return Err(Broken { checkpoint: self.chain.reach.saturating_sub(1), finding });
        }
        Ok(self.chain)
    }
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
