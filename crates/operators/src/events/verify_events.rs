//! All events and checkpoints are verified: nothing was altered, removed, added or moved since it was sealed.
//!
//! First the chain of checkpoints is walked, from the first to the last. Then the events are read, and compared with what the checkpoints seal; and what
//! operators signed at the desk is verified. Only a few thousand rows are in memory at a time.

mod chain;
mod contents;
mod hosts;
mod pseudonyms;
mod signatures;

use std::collections::BTreeMap;
use std::fmt;

use countersign_domain::checkpoint::{Checkpoint, Digest256};
use countersign_domain::event::Pseudonym;
use countersign_domain::id::EventId;
use countersign_ports::{EventStore, RecordReader, StoreError};
use time::{Duration, OffsetDateTime};

use chain::walk_chain;
use contents::compare_contents;
pub use signatures::Signatures;

/// The rows that are read at a time.
const PAGE: u32 = 1_000;

/// What was verified, while it goes on and at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The checkpoints in the chain.
    pub checkpoints: u64,
    /// The events that were compared with their checkpoints.
    pub events: u64,
    /// How many events the checkpoints seal and are to be there.
    pub expected: u64,
}

/// Everything holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// What was verified.
    pub progress: Progress,
    /// Events that were forgotten because their time was over.
    pub forgotten: u64,
    /// When the first and the last of those checkpoints were made whose events were forgotten.
    pub forgotten_between: Option<(OffsetDateTime, OffsetDateTime)>,
    /// The shortest retention for which events were forgotten, as far as the server said so.
    pub retention: Option<Duration>,
    /// Checkpoints before which the server vouches for nothing, because an operator decided to go on.
    pub accepted: Vec<Accepted>,
    /// The first checkpoint that public keys verify.
    pub reach: u64,
    /// Events whose times do not fit the checkpoints that seal them: they were stored late or by a wrong clock, or made up.
    pub misdated: Noticed,
    /// Deletions of accounts without the server's proof: an older build made them, or they are made up. They
    /// hide no one.
    pub unproven_deletions: Noticed,
    /// Checkpoints whose signature could not be checked, because their key is gone. The chain holds them.
    pub keys_gone: u64,
    /// Did a key that was withdrawn sign the last checkpoint? A thief of that key could have replaced the
    /// end; the next checkpoint settles it.
    pub ends_withdrawn: bool,
    /// Events that are not sealed yet. Nothing is known about these.
    pub fresh: u64,
    /// Valid signatures of operators under what they changed at the desk.
    pub signatures: u64,
    /// Signatures of operators that cannot be checked without asking a chain.
    pub signatures_unchecked: u64,
    /// The wallets (CAIP-10) that made those signatures, with how many. Whether they were operators' at the time is
    /// for people to say who know them: settings tell only of now.
    pub signers: BTreeMap<String, u64>,
    /// The hosts of the server for which texts were signed, with how many.
    pub hosts: BTreeMap<String, u64>,
    /// The same for hosts from before the record named any. Whether these were the server's is for people to say.
    pub hosts_unrecorded: BTreeMap<String, u64>,
}

/// Events that are worth a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// How many there are.
    pub events: u64,
    /// The first of them.
    pub first: Option<EventId>,
}

impl Noticed {
    fn notice(&mut self, event: EventId) {
        self.events += 1;
        self.first.get_or_insert(event);
    }
}

/// An operator decided to go on after a checkpoint that could not be authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The first checkpoint that the server does not vouch for; `checkpoint` itself if only the last one could not be
    /// authenticated any more.
    pub from: u64,
    /// The checkpoint that says so.
    pub checkpoint: u64,
    /// Who decided it.
    pub by: String,
}

impl Verified {
    /// The events of this checkpoint are gone because their time was over.
    fn forget(&mut self, checkpoint: &Checkpoint) {
        if checkpoint.events > 0 {
            let at = checkpoint.sealed_at;
            self.forgotten += u64::from(checkpoint.events);
            self.forgotten_between =
                Some(self.forgotten_between.map_or((at, at), |(from, to)| (from.min(at), to.max(at))));
        }
    }
}

/// Why events are not as they were sealed, or could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Something does not hold.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// Events or checkpoints could not be read.
    #[error("events or checkpoints could not be read")]
    Store(#[from] StoreError),
}

/// The first checkpoint that does not hold, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number.
    pub checkpoint: u64,
    /// What is wrong.
    pub finding: Finding,
}

/// What is wrong with a checkpoint or an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is no checkpoint of this number, but a later one.
    Missing,
    /// The row cannot be a checkpoint.
    Unreadable(String),
    /// What was signed is not what its columns say, or the signature is not the server's.
    Forged,
    /// It does not follow the one before.
    Unchained,
    /// No key that is known signed the last checkpoint.
    LastKeyGone,
    /// It lets events be deleted whose time was not over by the times that were signed.
    DeletedEarly,
    /// Nothing vouches for the key that signed it.
    KeysEnd {
        /// The first checkpoint that the keys verify.
        from: u64,
    },
    /// Checkpoints were altered while they were verified.
    AlteredMeanwhile,
    /// Another checkpoint was saved under this number.
    OtherWasSaved,
    /// A checkpoint of this number was saved, and is not there any more.
    SavedIsGone,
    /// There is no event at this position.
    EventMissing {
        /// The position.
        position: u64,
    },
    /// The row at this position cannot be an event.
    EventUnreadable {
        /// The position.
        position: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The person, the wallet, the address or what was signed of this event was altered.
    PersonAltered {
        /// The event.
        event: EventId,
    },
    /// An operator's wallet is said to have made this change, and no signature shows it.
    Unsigned {
        /// The event.
        event: EventId,
    },
    /// What operators signed for this change cannot be read.
    SignedUnreadable {
        /// The event.
        event: EventId,
    },
    /// What operators signed is not what this event says.
    SignedOtherwise {
        /// The event.
        event: EventId,
        /// What was signed instead.
        what: &'static str,
    },
    /// An event names a host of the server, and the server did not write it.
    HostInvented {
        /// The event.
        event: EventId,
    },
    /// No operator signed the text of this change.
    SignatureInvalid {
        /// The event.
        event: EventId,
    },
    /// An event at one of these positions was altered, or changed places with another.
    EventsAltered {
        /// The position of the first event of the checkpoint.
        first: u64,
        /// The position of the last.
        last: u64,
    },
    /// An event is at a position that this checkpoint does not seal, nor any other.
    EventAdded {
        /// The position.
        position: u64,
    },
    /// A user's events have a pseudonym, but their account was not deleted.
    NobodyDeleted {
        /// The pseudonym.
        pseudonym: Pseudonym,
    },
    /// More events have a pseudonym than were about the person whose account was deleted.
    HiddenBehind {
        /// The pseudonym.
        pseudonym: Pseudonym,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checkpoint {}: ", self.checkpoint)?;
        match &self.finding {
            Finding::Missing => f.write_str("it was removed: there are later ones"),
            Finding::Unreadable(problem) => write!(f, "its row was altered: {problem}"),
            Finding::Forged => f.write_str("it was altered: its signature does not fit"),
            Finding::Unchained => {
                f.write_str("it does not follow the checkpoint before it: one of them was replaced")
            }
            Finding::LastKeyGone => {
                f.write_str("it is the last one, and no key that is known here signed it: the end was replaced, or the key is gone")
            }
            Finding::DeletedEarly => {
                f.write_str("it lets events be deleted whose time was not over yet, by the times that were signed")
            }
            Finding::KeysEnd { from } => write!(
                f,
                "nothing vouches for the key that signed it: these keys verify the record from checkpoint {from} on; \
                 take older keys, too, or verify with the server's secret"
            ),
            Finding::AlteredMeanwhile => {
                f.write_str("checkpoints up to this one were altered while they were verified")
            }
            Finding::OtherWasSaved => f.write_str("it is not the one that was saved: it was replaced"),
            Finding::SavedIsGone => {
                f.write_str("it was saved, but is not there any more: the end was removed")
            }
            Finding::EventMissing { position } => write!(f, "the event at position {position} was removed"),
            Finding::EventUnreadable { position, problem } => {
                write!(f, "the event at position {position} was altered: {problem}")
            }
            Finding::PersonAltered { event } => {
                write!(
                    f,
                    "the person, the wallet or the address of event {event} was altered, or what was signed for it"
                )
            }
            Finding::Unsigned { event } => {
                write!(f, "event {event} is about an operator's change, and no one signed it")
            }
            Finding::SignedUnreadable { event } => {
                write!(f, "what was signed for event {event} cannot be read: it was altered")
            }
            Finding::SignedOtherwise { event, what } => {
                write!(f, "what was signed for event {event} is not what it says: it was signed for {what}")
            }
            Finding::HostInvented { event } => {
                write!(f, "event {event} names a host of the server, and the server did not write it")
            }
            Finding::SignatureInvalid { event } => {
                write!(f, "a signature under event {event} is not valid: its wallet did not sign this text")
            }
            Finding::EventsAltered { first, last } if first == last => {
                write!(f, "the event at position {first} was altered")
            }
            Finding::EventsAltered { first, last } => {
                write!(f, "an event at one of the positions {first} to {last} was altered or moved")
            }
            Finding::EventAdded { position } => {
                write!(f, "the event at position {position} was added: no checkpoint seals it")
            }
            Finding::NobodyDeleted { pseudonym } => {
                write!(
                    f,
                    "events name {pseudonym}, but there is no event of that deletion: their person was hidden"
                )
            }
            Finding::HiddenBehind { pseudonym } => {
                write!(f, "more events name {pseudonym} than were deleted: their person was hidden")
            }
        }
    }
}

impl std::error::Error for Broken {}

/// Verifies everything. `reader` reads signed checkpoints. `saved` has the hashes of checkpoints that were saved elsewhere,
/// by number.
pub async fn verify_events(
    storage: &(impl EventStore + ?Sized),
    reader: &mut dyn RecordReader,
    signatures: Signatures<'_>,
    saved: &BTreeMap<u64, Digest256>,
    mut tell: impl FnMut(Progress),
) -> Result<Verified, VerifyError> {
    let chain = walk_chain(storage, reader, saved, &mut tell).await?;
    compare_contents(storage, signatures, reader.record_key(), chain, &mut tell).await
}
