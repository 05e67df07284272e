//! The events, compared with what the checkpoints seal.

use countersign_domain::checkpoint::{Checkpoint, RecordKey, SealedEvent, merkle_root};
use countersign_domain::event::Event;
use countersign_ports::{CheckpointAt, EventAt, EventStore, StoreError};
use time::OffsetDateTime;

use super::chain::{Chain, Transcript};
use super::hosts::Hosts;
use super::pseudonyms::Pseudonyms;
use super::signatures::{MARGIN, Signatures, Texts, judge_signatures};
use super::{Broken, Finding, PAGE, Progress, Verified, VerifyError};

pub(super) async fn compare_contents(
    storage: &(impl EventStore + ?Sized),
    signatures: Signatures<'_>,
    key: Option<&RecordKey>,
    chain: Chain,
    tell: &mut impl FnMut(Progress),
) -> Result<Verified, VerifyError> {
    let mut events = Events::new(storage);
    let mut pseudonyms = Pseudonyms::new(key, chain.proven_from);
    let mut hosts = Hosts::new(signatures.authority, key);
    let mut texts = Texts::default();
    let Chain { keys_gone, ends_withdrawn, retention, reach, .. } = chain;
    let accepted = chain.accepted.clone();
    let mut verified =
        Verified { keys_gone, ends_withdrawn, accepted, retention, reach, ..Verified::default() };
    let mut transcript = Transcript::default();
    let mut before = None;
    verified.progress = Progress { checkpoints: chain.length, events: 0, expected: chain.kept };
    let mut number = 0;
    while number < chain.length {
        let page = storage.checkpoints(number, PAGE).await?;
        if page.is_empty() {
            let checkpoint = number.saturating_add(1);
            return Err(Broken { checkpoint, finding: Finding::Missing }.into());
        }
        for at in page {
            let signed = match at {
                CheckpointAt::Checkpoint(signed) => signed,
                CheckpointAt::Unreadable { number: checkpoint, problem } => {
                    return Err(Broken { checkpoint, finding: Finding::Unreadable(problem) }.into());
                }
            };
            // A checkpoint that was sealed since the chain was walked is verified the next time.
            if signed.checkpoint.number > chain.length {
                break;
            }
            transcript.add(&signed);
            let checkpoint = signed.checkpoint;
            number = checkpoint.number;
            let broken = |finding| Broken { checkpoint: number, finding };
            let can_be_gone = number < chain.kept_from;
            match compare(&mut events, &checkpoint, can_be_gone).await? {
                Compared::Holds(sealed) => {
                    let is_first = verified.progress.events == 0;
                    for event in &sealed {
                        pseudonyms.judge(storage, event).await?.map_err(broken)?;
                        hosts.learn(&event.event).map_err(|found| Broken { checkpoint: number, ..found })?;
                        if pseudonyms.is_proven(event) == Some(false) {
                            verified.unproven_deletions.notice(event.event.id);
                        }
                        if is_misdated(&event.event, before, &checkpoint) {
                            verified.misdated.notice(event.event.id);
                        }
                        let checked = judge_signatures(signatures, &mut texts, &event.event, is_first)
                            .await
                            .map_err(broken)?;
                        if let Some(host) = &checked.host {
                            hosts.judge(number, &event.event, host).map_err(broken)?;
                        }
                        verified.signatures += checked.valid;
                        verified.signatures_unchecked += checked.unchecked;
                        for signer in checked.signers {
                            *verified.signers.entry(signer).or_default() += 1;
                        }
                    }
                    verified.progress.events += u64::from(checkpoint.events);
                }
                Compared::Forgotten => verified.forget(&checkpoint),
                // Their time may have been over while they were read.
                Compared::Broken(Finding::EventMissing { .. }) if is_forgotten(storage, number).await? => {
                    // They go together, so one that is left was added.
                    if let Some(position) = left_of(storage, &checkpoint).await? {
                        return Err(broken(Finding::EventAdded { position }).into());
                    }
                    events.skip_to(checkpoint.next());
                    verified.forget(&checkpoint);
                }
                Compared::Broken(finding) => return Err(broken(finding).into()),
            }
            before = Some(checkpoint.sealed_at);
        }
        tell(verified.progress);
    }
    if transcript != chain.transcript {
        return Err(Broken { checkpoint: chain.length, finding: Finding::AlteredMeanwhile }.into());
    }
    if let Some(added) = events.peek().await?
        && !is_sealed_since(storage, &chain, added.position()).await?
    {
        let finding = Finding::EventAdded { position: added.position() };
        return Err(Broken { checkpoint: chain.length, finding }.into());
    }
    hosts.end()?;
    (verified.hosts, verified.hosts_unrecorded) = (hosts.known, hosts.unrecorded);
    verified.fresh = u64::try_from(storage.fresh_events(PAGE).await?.len()).unwrap_or(u64::MAX);
    Ok(verified)
}

/// Does the time of an event not fit the checkpoint that seals it, and the one before? Then it was stored
/// late, a clock was wrong, or it was made up. The server itself records late that a key began to sign.
fn is_misdated(event: &Event, before: Option<OffsetDateTime>, checkpoint: &Checkpoint) -> bool {
    let at = event.id.at_time();
    let is_late = before.is_some_and(|before| at.saturating_add(MARGIN) < before);
    (is_late && !event.kind.is_recorded_later()) || at > checkpoint.sealed_at.saturating_add(MARGIN)
}

/// Are the events of this checkpoint forgotten by now?
async fn is_forgotten(storage: &(impl EventStore + ?Sized), number: u64) -> Result<bool, StoreError> {
    let last = storage.last_checkpoint().await?;
    Ok(last.is_some_and(|last| number < last.checkpoint.kept_from))
}

/// The position of an event of this checkpoint that is still there.
async fn left_of(
    storage: &(impl EventStore + ?Sized),
    checkpoint: &Checkpoint,
) -> Result<Option<u64>, StoreError> {
    let left = storage.sealed_events(checkpoint.first.saturating_sub(1), 1).await?;
    Ok(left.first().map(EventAt::position).filter(|position| *position < checkpoint.next()))
}

/// Was the event at this position sealed after the chain was walked?
async fn is_sealed_since(
    storage: &(impl EventStore + ?Sized),
    chain: &Chain,
    position: u64,
) -> Result<bool, StoreError> {
    let last = storage.last_checkpoint().await?;
    Ok(last.is_some_and(|last| {
        last.checkpoint.number > chain.length && (chain.next..last.checkpoint.next()).contains(&position)
    }))
}

enum Compared {
    Holds(Vec<SealedEvent>),
    /// All of its events were forgotten.
    Forgotten,
    Broken(Finding),
}

/// Compares the events of one checkpoint, which are the next ones.
async fn compare(
    events: &mut Events<'_, impl EventStore + ?Sized>,
    checkpoint: &Checkpoint,
    can_be_gone: bool,
) -> Result<Compared, StoreError> {
    let mut sealed = Vec::new();
    if let Some(at) = events.peek().await?
        && at.position() < checkpoint.first
    {
        return Ok(Compared::Broken(Finding::EventAdded { position: at.position() }));
    }
    for position in checkpoint.first..checkpoint.next() {
        let is_there = events.peek().await?.is_some_and(|at| at.position() == position);
        match if is_there { events.take().await? } else { None } {
            Some(EventAt::Event(event)) if event.is_faithful() => sealed.push(*event),
            Some(EventAt::Event(event)) => {
                return Ok(Compared::Broken(Finding::PersonAltered { event: event.event.id }));
            }
            Some(EventAt::Unreadable { problem, .. }) => {
                return Ok(Compared::Broken(Finding::EventUnreadable { position, problem }));
            }
            None if can_be_gone && sealed.is_empty() => {
                let has_others = events.peek().await?.is_some_and(|at| at.position() < checkpoint.next());
                let finding = Finding::EventMissing { position };
                return Ok(if has_others { Compared::Broken(finding) } else { Compared::Forgotten });
            }
            None => return Ok(Compared::Broken(Finding::EventMissing { position })),
        }
    }
    let leaves: Vec<_> = sealed.iter().map(SealedEvent::leaf).collect();
    if merkle_root(&leaves) == checkpoint.root {
        return Ok(Compared::Holds(sealed));
    }
    let (first, last) = (checkpoint.first, checkpoint.next().saturating_sub(1));
    Ok(Compared::Broken(Finding::EventsAltered { first, last }))
}

/// The sealed events in the order of their positions, a page at a time.
struct Events<'a, S: ?Sized> {
    storage: &'a S,
    page: std::vec::IntoIter<EventAt>,
    next: Option<EventAt>,
    after: u64,
}

impl<'a, S: EventStore + ?Sized> Events<'a, S> {
    fn new(storage: &'a S) -> Self {
        Self { storage, page: Vec::new().into_iter(), next: None, after: 0 }
    }

    /// The next event, which stays the next one.
    async fn peek(&mut self) -> Result<Option<&EventAt>, StoreError> {
        if self.next.is_none() {
            if self.page.as_slice().is_empty() {
                self.page = self.storage.sealed_events(self.after, PAGE).await?.into_iter();
            }
            self.next = self.page.next();
            if let Some(next) = &self.next {
                self.after = next.position();
            }
        }
        Ok(self.next.as_ref())
    }

    /// Leaves out what is before this position.
    fn skip_to(&mut self, position: u64) {
        self.page = Vec::new().into_iter();
        self.next = None;
        self.after = position.saturating_sub(1);
    }

    async fn take(&mut self) -> Result<Option<EventAt>, StoreError> {
        self.peek().await?;
        Ok(self.next.take())
    }
}
