//! A change to a user's wallets that waits for its signatures.

use time::OffsetDateTime;

use crate::challenge::{ChallengeDigest, ChallengeRejected, IssuedChallenge};
use crate::wallet::WalletAccount;

/// What a person wants to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletChange {
    /// Another wallet is linked to the user. It must sign too.
    Link {
        /// The fingerprint of the text that the other wallet signs.
        other_digest: ChallengeDigest,
    },
    /// One of the user's wallets is unlinked.
    Unlink,
}

/// A change whose texts were issued. It exists only in the sealed session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWalletChange {
    /// The text that the signer signs. Its id works once, and is spent with the change. Its expiry and its
    /// count of invalid signatures apply to the whole change.
    pub challenge: IssuedChallenge,
    /// The change that is requested.
    pub change: WalletChange,
    /// The wallet that signs for the user.
    pub signer: WalletAccount,
    /// The wallet that is linked or unlinked.
    pub other: WalletAccount,
}

impl PendingWalletChange {
    /// Can a link be completed with these texts?
    pub fn admit_link(
        &self,
        now: OffsetDateTime,
        signer_text: &str,
        other_text: &str,
    ) -> Result<(), ChallengeRejected> {
        let WalletChange::Link { other_digest } = self.change else {
            return Err(ChallengeRejected::Unknown);
        };
        if !other_digest.is(&ChallengeDigest::of(&self.other, other_text)) {
            return Err(ChallengeRejected::Unknown);
        }
        self.challenge.admit_text(now, &self.signer, signer_text)
    }

    /// Can a wallet be unlinked with this text?
    pub fn admit_unlink(&self, now: OffsetDateTime, signer_text: &str) -> Result<(), ChallengeRejected> {
        match self.change {
            WalletChange::Unlink => self.challenge.admit_text(now, &self.signer, signer_text),
            WalletChange::Link { .. } => Err(ChallengeRejected::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::challenge::MAX_FAILURES;
    use crate::id::GrantId;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn account(address: &str) -> WalletAccount {
        WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: address.to_owned(),
        }
    }

    fn pending(change: WalletChange) -> PendingWalletChange {
        PendingWalletChange {
            challenge: IssuedChallenge {
                id: GrantId::at(NOW, [1; 10]),
                digest: ChallengeDigest::of(&account("0xA"), "mine"),
                expires_at: NOW + Duration::minutes(5),
                failures: 0,
                chain: None,
                kind: None,
            },
            change,
            signer: account("0xA"),
            other: account("0xB"),
        }
    }

    fn link() -> PendingWalletChange {
        pending(WalletChange::Link { other_digest: ChallengeDigest::of(&account("0xB"), "theirs") })
    }

    #[test]
    fn b_002_a_link_needs_both_texts_as_they_were_issued() {
        assert_eq!(link().admit_link(NOW, "mine", "theirs"), Ok(()));
        for (signer, other) in [("mine", "mine"), ("theirs", "theirs"), ("theirs", "mine"), ("mine", "")] {
            assert_eq!(link().admit_link(NOW, signer, other), Err(ChallengeRejected::Unknown));
        }
    }

    #[test]
    fn the_text_of_one_change_does_not_make_the_other() {
        assert_eq!(link().admit_unlink(NOW, "mine"), Err(ChallengeRejected::Unknown));
        let unlink = pending(WalletChange::Unlink);
        assert_eq!(unlink.admit_unlink(NOW, "mine"), Ok(()));
        assert_eq!(unlink.admit_link(NOW, "mine", "theirs"), Err(ChallengeRejected::Unknown));
    }

    #[test]
    fn a_050_a_change_ends_at_its_exact_second_and_after_five_failures() {
        let mut pending = pending(WalletChange::Unlink);
        assert_eq!(
            pending.admit_unlink(pending.challenge.expires_at, "mine"),
            Err(ChallengeRejected::Expired)
        );
        for _ in 0..MAX_FAILURES {
            assert_eq!(pending.admit_unlink(NOW, "mine"), Ok(()));
            pending.challenge.count_failure();
        }
        assert_eq!(pending.admit_unlink(NOW, "mine"), Err(ChallengeRejected::Exhausted));
    }
}
