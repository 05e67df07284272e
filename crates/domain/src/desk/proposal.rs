//! A change that waits for a second operator.

use time::{Duration, OffsetDateTime};

use crate::event::ChangeSignature;
use crate::id::{GrantId, UserId};
use crate::wallet::WalletAccount;

/// How long a proposal waits.
pub const LIFETIME: Duration = Duration::hours(24);

/// A change that one operator signed, and that a second one must sign too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The id of the change: that of the first text.
    pub id: GrantId,
    /// Who signed first.
    pub user: UserId,
    /// All wallets that the first had when they signed. None of them can be the second.
    pub wallets: Vec<WalletAccount>,
    /// What the first signed. The change is read from its text.
    pub first: ChangeSignature,
    /// Who signed second, and what; only once it was taken.
    pub second: Option<(UserId, ChangeSignature)>,
    /// When it was proposed.
    pub proposed_at: OffsetDateTime,
    /// When it ends unless it is taken.
    pub expires_at: OffsetDateTime,
    /// What became of it.
    pub state: ProposalState,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// It waits for the second signature, until it expires.
    Waiting,
    /// It was signed by two, and is being carried out. If it stays like this, a server was killed in between.
    Taken,
    /// It was carried out.
    Done,
    /// It was signed by two, but was no longer possible.
    Failed,
    /// The first operator took it back.
    Withdrawn,
}

impl ProposalState {
    /// All states.
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Taken, Self::Done, Self::Failed, Self::Withdrawn];

    /// The word in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Taken => "taken",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Finds a state by its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == word)
    }
}

impl Proposal {
    /// Can a second operator sign it?
    pub fn waits(&self, now: OffsetDateTime) -> bool {
        self.state == ProposalState::Waiting && now < self.expires_at
    }
}
