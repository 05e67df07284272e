//! What the page without scripts says when something went wrong. Each kind of error has a text in
//! `notice.json`.

use countersign_usecases::sign_in::complete_login::CompleteLoginError;
use countersign_usecases::steps::recognize_account::RecognizeError;

/// What went wrong: the key of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice(&'static str);

impl Notice {
    /// Says what is wrong with an address.
    pub(crate) const fn of_address(error: &RecognizeError) -> Self {
        Self(match error {
            RecognizeError::AddressUnknown => "notice.address_unknown",
            RecognizeError::ChainUnknown(_) => "notice.chain_unknown",
            RecognizeError::Ambiguous(_) => "notice.chain_ambiguous",
            RecognizeError::ChainsDiffer(_) => "notice.chains_differ",
            RecognizeError::KindUnknown(_) => "notice.kind_unknown",
            RecognizeError::KindMissing => "notice.kind_missing",
        })
    }

    /// Says why a login failed.
    pub(crate) const fn of_login(error: &CompleteLoginError) -> Self {
        Self(match error {
            CompleteLoginError::Email(_) => "notice.bad_email",
            CompleteLoginError::Challenge(_) | CompleteLoginError::ChallengeSpent => "notice.bad_challenge",
            CompleteLoginError::Signature(_) => "notice.bad_signature",
            CompleteLoginError::Verifier(_) => "notice.unavailable",
            CompleteLoginError::Invitation(_) => "notice.invitation_ended",
            CompleteLoginError::NotAdmitted(_)
            | CompleteLoginError::Client(_)
            | CompleteLoginError::ScopesWithheld
            | CompleteLoginError::Store(_) => "notice.refused",
        })
    }

    /// The key of its text.
    pub(crate) const fn key(self) -> &'static str {
        self.0
    }
}
