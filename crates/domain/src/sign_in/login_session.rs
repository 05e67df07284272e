//! Sign-ins that a browser remembers.

use time::OffsetDateTime;

use crate::id::{SessionId, UserId};
use crate::secret::{Secret, SecretHash};
use crate::wallet::WalletAccount;

/// A remembered sign-in. Everything but `last_used_at` is fixed when the wallet signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSession {
    /// Its id, which is also in the browser's secret.
    pub id: SessionId,
    /// Who signed in.
    pub user: UserId,
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The hash of the browser's secret.
    pub secret_hash: SecretHash,
    /// A name that people recognize the browser by, for example `Firefox on Linux`.
    pub browser: String,
    /// When the wallet's signature was verified.
    pub authenticated_at: OffsetDateTime,
    /// When it was last used without a signature; at first, when the wallet signed.
    pub last_used_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

impl LoginSession {
    /// Is it valid at this time, for someone who presents this secret?
    pub fn admits(&self, now: OffsetDateTime, presented: &Secret) -> bool {
        now < self.expires_at && self.secret_hash.admits(presented)
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    #[test]
    fn a_session_is_good_for_its_secret_until_its_exact_second() {
        let id = SessionId::at(NOW, [1; 10]);
        let secret = Secret::with_id(id.as_uuid(), [2; 32]);
        let session = LoginSession {
            id,
            user: UserId::random([3; 16]),
            account: WalletAccount {
                family: "eip155".to_owned(),
                chain: "eip155:1".to_owned(),
                address: "0xA".to_owned(),
            },
            secret_hash: SecretHash::of(&secret),
            browser: String::new(),
            authenticated_at: NOW,
            last_used_at: NOW,
            expires_at: NOW + Duration::hours(1),
        };
        assert!(session.admits(NOW, &secret));
        assert!(!session.admits(session.expires_at, &secret));
        assert!(!session.admits(NOW, &Secret::with_id(id.as_uuid(), [4; 32])), "the id alone proves nothing");
    }
}
