//! A change that waits for a second operator.

use time::{Duration, OffsetDateTime};

use crate::event::ChangeSignature;
use crate::id::{GrantId, UserId};
use crate::wallet::WalletAccount;

/// How long a proposal waits.
pub const LIFETIME: Duration = Duration::hours(24);

/// How long a server has to carry out what two signed. If it did not by then, it was killed or is cut off; the
/// proposal waits again, and whatever that server still does is refused.
pub const TIME_TO_CARRY_OUT: Duration = Duration::minutes(1);

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
    /// When the second signed.
    pub taken_at: Option<OffsetDateTime>,
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
    /// It was signed by two, and is being carried out. See [`TIME_TO_CARRY_OUT`].
    Taken,
    /// It was carried out.
    Done,
    /// It was signed by two, but was no longer possible.
    Failed,
    /// The first operator took it back.
    Withdrawn,
    /// Another operator refused it.
    Refused,
    /// The first operator was suspended.
    Suspended,
}

impl ProposalState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Taken,
        Self::Done,
        Self::Failed,
        Self::Withdrawn,
        Self::Refused,
        Self::Suspended,
    ];

    /// The word in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Taken => "taken",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Withdrawn => "withdrawn",
            Self::Refused => "refused",
            Self::Suspended => "suspended",
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
        self.state_at(now) == ProposalState::Waiting && now < self.expires_at
    }

    /// What became of it: the stored state, unless a server took too long.
    pub fn state_at(&self, now: OffsetDateTime) -> ProposalState {
        let is_given_up = self.taken_at.is_some_and(|at| at <= given_up_before(now));
        if self.state == ProposalState::Taken && is_given_up { ProposalState::Waiting } else { self.state }
    }
}

/// What was taken then or earlier is not being carried out any more.
pub fn given_up_before(now: OffsetDateTime) -> OffsetDateTime {
    now - TIME_TO_CARRY_OUT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wallet::WalletAccount;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn taken() -> Proposal {
        let account = WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0xa".to_owned(),
        };
        let signed = ChangeSignature { account, text: "text".to_owned(), signature: "0x".to_owned() };
        let user = UserId::from_uuid(uuid::Uuid::nil());
        Proposal {
            id: GrantId::at(NOW, [1; 10]),
            user,
            wallets: Vec::new(),
            first: signed.clone(),
            second: Some((user, signed)),
            taken_at: Some(NOW),
            proposed_at: NOW,
            expires_at: NOW + LIFETIME,
            state: ProposalState::Taken,
        }
    }

    #[test]
    fn what_no_server_finished_in_a_minute_waits_again_until_it_expires() {
        let proposal = taken();
        let almost = NOW + TIME_TO_CARRY_OUT - Duration::microseconds(1);
        assert_eq!(proposal.state_at(almost), ProposalState::Taken);
        assert!(!proposal.waits(almost));
        assert!(proposal.waits(NOW + TIME_TO_CARRY_OUT));
        assert!(!proposal.waits(NOW + LIFETIME));
    }

    #[test]
    fn what_was_finished_never_waits_again() {
        let is_over = |state: &ProposalState| !matches!(state, ProposalState::Waiting | ProposalState::Taken);
        for state in ProposalState::ALL.into_iter().filter(is_over) {
            let proposal = Proposal { state, ..taken() };
            assert_eq!(proposal.state_at(NOW + Duration::HOUR), state);
        }
    }
}
