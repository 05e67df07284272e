//! A checked authorization request that waits for its signature.

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::audience::SignedAudiences;
use crate::challenge::{ChallengeDigest, IssuedChallenge, Purpose};
use crate::client::Client;
use crate::consent::{ConsentDestination, ConsentTerms};
use crate::device::{DeviceRequest, UserCode};
use crate::form_key::FormSecret;
use crate::id::{ClientId, GrantId, SessionId, UserId};
use crate::key_thumbprint::KeyThumbprint;
use crate::lifetimes::Lifetimes;
use crate::login_session::LoginSession;
use crate::pkce::CodeChallenge;
use crate::public_url::PublicUrl;
use crate::redirect_uri::{Destination, RedirectUri};
use crate::response_mode::ResponseMode;
use crate::scope::{Scope, ScopeSet};
use crate::wallet::{AccountKind, WalletAccount};

/// How many challenges of one request are remembered. One more pushes out the oldest.
pub const MAX_CHALLENGES: usize = 5;

/// A checked authorization request. It exists only in the person's sealed session cookie, so no one can make
/// the store grow by sending requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAuthorization {
    /// Which client asks.
    pub client: ClientId,
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// What would be granted.
    pub scope: ScopeSet,
    /// The client's own value, given back byte for byte.
    pub state: Option<String>,
    /// OpenID Connect's replay protection, given back in the ID token.
    pub nonce: Option<String>,
    /// PKCE.
    pub code_challenge: Option<CodeChallenge>,
    /// The address that the client thinks will sign; never believed.
    pub login_hint: Option<String>,
    /// The language that the client asked for, as it wrote it.
    pub ui_locales: Option<String>,
    /// How old a remembered sign-in may be: one from before this time does not answer the request.
    pub oldest_sign_in: Option<OffsetDateTime>,
    /// How the answer reaches the client.
    pub response_mode: ResponseMode,
    /// The resources that access tokens shall be for.
    pub resources: Vec<String>,
    /// The key that the code shall be bound to.
    pub key: Option<KeyThumbprint>,
    /// The one user whom the client will take.
    pub required_user: Option<UserId>,
    /// The grant that answers a device, which waits for it; the request of a browser makes its own.
    pub device: Option<GrantId>,
    /// The document that describes the client, if it did not register.
    pub document: Option<String>,
    /// When the request is forgotten.
    pub expires_at: OffsetDateTime,
    /// The challenges that were issued for it, oldest first.
    pub challenges: Vec<IssuedChallenge>,
}

impl PendingAuthorization {
    /// A request with nothing that it may leave out, and without a challenge.
    pub const fn bare(
        client: ClientId,
        redirect_uri: RedirectUri,
        scope: ScopeSet,
        expires_at: OffsetDateTime,
    ) -> Self {
        Self {
            client,
            redirect_uri,
            scope,
            state: None,
            nonce: None,
            code_challenge: None,
            login_hint: None,
            ui_locales: None,
            oldest_sign_in: None,
            response_mode: ResponseMode::Query,
            resources: Vec::new(),
            key: None,
            required_user: None,
            device: None,
            document: None,
            expires_at,
            challenges: Vec::new(),
        }
    }

    /// A request of our own account page.
    pub fn for_account(public_url: &PublicUrl, now: OffsetDateTime, lifetimes: &Lifetimes) -> Self {
        let redirect_uri = RedirectUri::from_trusted(public_url.join("/account"));
        Self::bare(ClientId::ACCOUNT, redirect_uri, ScopeSet::default(), now + lifetimes.session)
    }

    /// A request that answers a device. Its state is the code that the device shows, which tells it from others of the same
    /// client.
    pub fn for_device(
        device: &DeviceRequest,
        code: &UserCode,
        client: &Client,
        public_url: &PublicUrl,
    ) -> Self {
        let redirect_uri = RedirectUri::of_device(public_url);
        Self {
            state: Some(code.to_string()),
            resources: device.resources.clone(),
            device: Some(device.id),
            document: client.document.clone(),
            ..Self::bare(client.id, redirect_uri, device.scope, device.expires_at)
        }
    }

    /// The code that the waiting device shows; `None` where a browser waits.
    pub fn device_code(&self) -> Option<&str> {
        self.device.and(self.state.as_deref())
    }

    /// Where the sign-in leads.
    pub fn destination(&self) -> Destination {
        match self.device_code() {
            Some(code) => Destination::Device(code.to_owned()),
            None => self.redirect_uri.destination(),
        }
    }

    /// What signing for it does.
    pub fn purpose(&self) -> Purpose<'_> {
        let Self { client, scope, resources, redirect_uri, .. } = self;
        if self.is_for_account() {
            return Purpose::Account;
        }
        match self.device_code() {
            Some(code) => Purpose::Device { code, client: *client, scope: *scope, resources },
            None => Purpose::SignIn { redirect_uri, client: *client, scope: *scope, resources },
        }
    }

    /// What somebody agrees to who signs for it, beside client and scopes.
    pub fn terms(&self) -> ConsentTerms {
        ConsentTerms {
            destination: match self.device {
                Some(_) => ConsentDestination::Device,
                None => ConsentDestination::of(&self.redirect_uri),
            },
            audiences: SignedAudiences::of(&self.resources, self.scope),
        }
    }

    /// Is it a request of our own account page?
    pub fn is_for_account(&self) -> bool {
        self.client == ClientId::ACCOUNT
    }

    /// May a remembered sign-in answer the request? A client that wants to see what was signed gets a signature of its own.
    pub fn takes_session(&self, session: &LoginSession) -> bool {
        self.oldest_sign_in.is_none_or(|oldest| oldest <= session.authenticated_at)
            && self.required_user.is_none_or(|user| user == session.user)
            && !self.scope.contains(Scope::WalletProof)
    }

    /// The id of the grant that a login session gets from this request: the same each time, so that the request is answered
    /// once however often it is sent (B-065). No two sessions can meet in one id.
    pub fn grant_id(&self, session: SessionId) -> GrantId {
        if let Some(device) = self.device {
            return device;
        }
        let mut hash = Sha256::new();
        hash.update(session.as_uuid());
        hash.update(self.expires_at.unix_timestamp().to_be_bytes());
        hash.update(self.label());
        hash.update([self.scope.bits()]);
        hash.update(self.code_challenge.map_or([0; 32], |challenge| *challenge.as_bytes()));
        hash.update(self.nonce.as_deref().unwrap_or_default());
        hash.update([0]);
        hash.update(self.resources.join(" "));
        hash.update(self.key.map_or([0; 32], |key| *key.as_bytes()));
        let mut random = [0; 10];
        random.copy_from_slice(&hash.finalize()[..10]);
        GrantId::at(self.expires_at, random)
    }

    /// Is the request still waiting for its answer?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        now < self.expires_at
    }

    /// Is this the request that the page or the client means?
    pub fn is(&self, client_id: &str, redirect_uri: &str, state: Option<&str>) -> bool {
        (self.client.to_string() == client_id || self.document.as_deref() == Some(client_id))
            && self.redirect_uri.as_str() == redirect_uri
            && self.state.as_deref() == state
    }

    /// A short name for this request among the few of one session, so that a page can be loaded again.
    pub fn label(&self) -> String {
        let mut hash = Sha256::new();
        for part in
            [&self.client.to_string(), self.redirect_uri.as_str(), self.state.as_deref().unwrap_or_default()]
        {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(&hash.finalize()[..4])
    }

    /// Tells a form what its page shows about this request. The form is valid for no other request, not even
    /// for one with the same label that asks for more.
    pub fn bind(&self, form: FormSecret) -> FormSecret {
        let required_user = self.required_user.map(|user| user.as_uuid());
        let device = self.device.map(|device| device.as_uuid());
        let bound = form
            .that_says(self.client.as_uuid())
            .that_says(self.redirect_uri.as_str())
            .that_says(self.state.as_deref().unwrap_or_default())
            .that_says([self.scope.bits()])
            .that_says(self.nonce.as_deref().unwrap_or_default())
            .that_says(self.code_challenge.as_ref().map_or(&[][..], |challenge| challenge.as_bytes()))
            .that_says(self.key.as_ref().map_or(&[][..], |key| key.as_bytes()))
            .that_says(required_user.as_ref().map_or(&[][..], |user| user.as_bytes()))
            .that_says(device.as_ref().map_or(&[][..], |device| device.as_bytes()))
            .that_says(self.document.as_deref().unwrap_or_default());
        self.resources.iter().fold(bound, FormSecret::that_says)
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
