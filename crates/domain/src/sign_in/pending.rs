//! A checked authorization request that waits for its signature.

mod requester;

pub use requester::{
    ACCOUNT_PAGE, AcceptedUsers, AccessRequest, ClientRequest, RequestName, Requester, WaitingDevice,
};

use time::OffsetDateTime;

use crate::challenge::{ChallengeDigest, IssuedChallenge, Purpose};
use crate::client::Client;
use crate::consent::ConsentTerms;
use crate::device::{DeviceRequest, UserCode};
use crate::form_key::FormSecret;
use crate::id::GrantId;
use crate::invitation::AcceptedInvitation;
use crate::lifetimes::Lifetimes;
use crate::login_session::LoginSession;
use crate::public_url::PublicUrl;
use crate::redirect_uri::{Destination, RedirectUri};
use crate::scope::{Scope, ScopeSet};
use crate::wallet::{AccountKind, WalletAccount};

/// How many challenges of one request are remembered. One more pushes out the oldest.
pub const MAX_CHALLENGES: usize = 5;

/// A checked authorization request. It exists only in the person's sealed session cookie, so no one can make
/// the store grow by sending requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAuthorization {
    /// Who asks, and for what.
    pub requester: Requester,
    /// The invitation that the person accepts by signing.
    pub invitation: Option<AcceptedInvitation>,
    /// The language that the client asked for, as it wrote it.
    pub ui_locales: Option<String>,
    /// A remembered sign-in from before this time does not answer the request.
    pub oldest_sign_in: Option<OffsetDateTime>,
    /// When the request is forgotten.
    pub expires_at: OffsetDateTime,
    /// The challenges that were issued for it, oldest first.
    pub challenges: Vec<IssuedChallenge>,
}

impl PendingAuthorization {
    /// A request without a challenge, in any language, that every remembered sign-in may answer.
    pub const fn of(requester: Requester, expires_at: OffsetDateTime) -> Self {
        Self {
            requester,
            invitation: None,
            ui_locales: None,
            oldest_sign_in: None,
            expires_at,
            challenges: Vec::new(),
        }
    }

    /// A request of our own account page.
    pub fn for_account(public_url: &PublicUrl, now: OffsetDateTime, lifetimes: &Lifetimes) -> Self {
        let page = RedirectUri::from_trusted(public_url.join("/account"));
        Self::of(Requester::AccountPage { page }, now + lifetimes.session)
    }

    /// A request that answers a device.
    pub fn for_device(
        device: &DeviceRequest,
        code: UserCode,
        client: &Client,
        public_url: &PublicUrl,
    ) -> Self {
        let access = AccessRequest {
            client: client.id,
            document: client.document.clone(),
            scope: device.scope.clone(),
            resources: device.resources.clone(),
        };
        let done = RedirectUri::of_device(public_url);
        let requester = Requester::Device(WaitingDevice { id: device.id, code, access, done });
        Self::of(requester, device.expires_at)
    }

    /// What a client would get; `None` for the account page, which gets no grant.
    pub const fn access(&self) -> Option<&AccessRequest> {
        self.requester.access()
    }

    /// The request of a client that gets its code through the browser; `None` for the account page and for a
    /// device.
    pub const fn client_request(&self) -> Option<&ClientRequest> {
        match &self.requester {
            Requester::Client(request) => Some(request),
            Requester::AccountPage { .. } | Requester::Device(_) => None,
        }
    }

    /// What a client would be granted; nothing for the account page.
    pub fn scope(&self) -> &ScopeSet {
        const NOTHING: &ScopeSet = &ScopeSet::EMPTY;
        self.access().map_or(NOTHING, |access| &access.scope)
    }

    /// Where the sign-in leads.
    pub fn destination(&self) -> Destination {
        self.requester.destination()
    }

    /// What signing for it does.
    pub fn purpose(&self) -> Purpose<'_> {
        self.requester.purpose()
    }

    /// What a person agrees to by signing for it, besides the client and the scopes; `None` for the account
    /// page, which gets no grant.
    pub fn terms(&self) -> Option<ConsentTerms> {
        self.requester.terms()
    }

    /// May a remembered sign-in answer the request? If the client wants to see what was signed, or an invitation is
    /// accepted, it needs a signature of its own.
    pub fn takes_session(&self, session: &LoginSession) -> bool {
        let is_for_them = match &self.requester {
            Requester::Client(request) => request.accepted.accepts(session.user),
            Requester::AccountPage { .. } | Requester::Device(_) => true,
        };
        self.oldest_sign_in.is_none_or(|oldest| oldest <= session.authenticated_at)
            && is_for_them
            && !self.scope().contains(Scope::WalletProof)
            && self.invitation.is_none()
    }

    /// Is the request still waiting for its answer?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        now < self.expires_at
    }

    /// Is this the request that the page or the client means?
    pub fn is(&self, client_id: &str, redirect_uri: &str, state: Option<&str>) -> bool {
        let name = self.requester.name();
        let document = self.access().and_then(|access| access.document.as_deref());
        (name.client_id == client_id || document == Some(client_id))
            && name.redirect_uri == redirect_uri
            && name.state.as_deref() == state
    }

    /// A short name that distinguishes this request from the few others of a session, so that a page can be
    /// loaded again.
    pub fn label(&self) -> String {
        self.requester.name().label()
    }

    /// Identifies for a form what its page shows about this request. The form is valid for no other request,
    /// not even for one with the same label that asks for more.
    pub fn bind(&self, form: FormSecret) -> FormSecret {
        let form = self.requester.bind(form);
        match &self.invitation {
            Some(AcceptedInvitation { id, group }) => form.that_says(id.as_uuid()).that_says(group.as_str()),
            None => form,
        }
    }

    /// Remembers a challenge. Beyond [`MAX_CHALLENGES`] the oldest is forgotten.
    pub fn remember(&mut self, challenge: IssuedChallenge) {
        if self.challenges.len() >= MAX_CHALLENGES {
            self.challenges.remove(0);
        }
        self.challenges.push(challenge);
    }

    /// Finds the challenge whose text was presented, and the account that it was issued for. The candidates
    /// are all accounts that the presented address can mean on a chain, as a key's or a contract's if that
    /// was named.
    ///
    /// The presented text is compared with the fingerprint of what we issued, and never parsed. Whatever else
    /// it says, and wherever else it has our nonce, it is not ours (B-001 to B-006).
    pub fn challenge(
        &self,
        text: &str,
        accounts: impl Fn(Option<&str>, Option<AccountKind>) -> Vec<WalletAccount>,
    ) -> Option<(&IssuedChallenge, WalletAccount)> {
        self.challenges.iter().rev().find_map(|challenge| {
            let mut candidates = accounts(challenge.chain.as_deref(), challenge.kind).into_iter();
            let account =
                candidates.find(|account| challenge.digest.is(&ChallengeDigest::of(account, text)))?;
            Some((challenge, account))
        })
    }

    /// Counts an invalid signature. All challenges for one device have the same id, and are counted together.
    pub fn count_failure(&mut self, id: GrantId) {
        self.challenges
            .iter_mut()
            .filter(|challenge| challenge.id == id)
            .for_each(IssuedChallenge::count_failure);
    }
}

#[cfg(test)]
mod tests;
