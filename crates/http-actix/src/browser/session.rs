//! The session, which is sealed in a cookie: the mark of the browser, pending authorizations with the digests
//! of their challenges, one change of wallets, one change at the desk, one invitation that waits for its application, and one
//! response that is waiting to be sent to a client.
//!
//! None of it is in the store, so requests cannot fill the store. But a browser can send an old copy. That is
//! why the store guards what must happen only once, and an old copy can only be used to ask for a new
//! challenge.

mod sealed;

use actix_session::Session;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::desk::pending::PendingChange;
use countersign_domain::id::ClientId;
use countersign_domain::invitation::AcceptedInvitation;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_usecases::steps::answer::ClientAnswer;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use time::OffsetDateTime;

use crate::error::ApiError;
use sealed::{SealedAnswer, SealedChange, SealedDeskChange, SealedInvitation, SealedPending};

const KEY: &str = "p";
const CHANGE_KEY: &str = "w";
const DESK_KEY: &str = "d";
const ANSWER_KEY: &str = "a";
const INVITATION_KEY: &str = "i";
const MARK_KEY: &str = "m";

/// An entry's key, quotes and colon, and a comma or the braces of the map.
const BESIDE_TEXT: usize = 8;

/// Browsers accept cookies of up to 4,096 bytes. Sealing adds 28 bytes, and base64 a third. About one
/// character in 32 is then written as three. The rest is for the name, and a margin.
const MAX_PLAIN: usize = 2_740;

/// How much longer a form post to a client can be than the client's request: it has a code or an error, and
/// the issuer.
const MAX_ANSWER: usize = 400;

/// The cookie's name. `__Host-` keeps sibling domains from setting it (B-062), but needs https.
pub(crate) const fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-oauth_session" } else { "oauth_session" }
}

/// The pending authorizations of one browser, the oldest first. Only those that are live.
pub(crate) struct Pendings(Vec<PendingAuthorization>);

/// A request that does not fit into the cookie even alone.
#[derive(Debug, thiserror::Error)]
#[error("the request is too large for a session cookie")]
pub struct TooLarge;

impl Pendings {
    /// Reads the cookie. Requests that cannot be read or are no longer live are left out.
    pub(crate) fn load(session: &Session, now: OffsetDateTime) -> Self {
        let sealed: Vec<SealedPending> = session.get(KEY).ok().flatten().unwrap_or_default();
        Self(
            sealed
                .into_iter()
                .filter_map(SealedPending::open)
                .filter(|pending| pending.is_live(now))
                .collect(),
        )
    }

    /// Reads the cookie for an endpoint that needs a pending request.
    pub(crate) fn require(session: &Session, now: OffsetDateTime) -> Result<Self, ApiError> {
        let pendings = Self::load(session, now);
        if pendings.0.is_empty() { Err(ApiError::missing_session()) } else { Ok(pendings) }
    }

    /// Adds a request as the newest. If the same request is already there, it is replaced.
    pub(crate) fn add(&mut self, pending: PendingAuthorization) {
        self.0.retain(|other| other.label() != pending.label());
        self.0.push(pending);
    }

    pub(crate) fn newest(&mut self) -> Option<&mut PendingAuthorization> {
        self.0.last_mut()
    }

    /// The request with this label, or the newest if no label is given. If the request was answered, no other
    /// takes its place.
    pub(crate) fn labeled_or_newest(&mut self, label: Option<&str>) -> Option<&mut PendingAuthorization> {
        match label {
            Some(label) => self.0.iter_mut().rfind(|pending| pending.label() == label),
            None => self.newest(),
        }
    }

    /// The request that a page or a client names with these values.
    pub(crate) fn find(
        &mut self,
        client_id: &str,
        redirect_uri: &str,
        state: Option<&str>,
    ) -> Option<&mut PendingAuthorization> {
        let state = state.filter(|state| !state.is_empty());
        self.0.iter_mut().rfind(|pending| pending.is(client_id, redirect_uri, state))
    }

    /// The named request, or the newest if none is named. Used for a text to sign, which changes nothing.
    pub(crate) fn named_or_newest(
        &mut self,
        client_id: Option<&str>,
        redirect_uri: Option<&str>,
        state: Option<&str>,
    ) -> Result<&mut PendingAuthorization, ApiError> {
        match (client_id, redirect_uri) {
            (None, None) => self.newest().ok_or_else(ApiError::missing_session),
            (client_id, redirect_uri) => {
                self.named(client_id.unwrap_or_default(), redirect_uri.unwrap_or_default(), state)
            }
        }
    }

    /// The named request, or an error if there is none.
    pub(crate) fn named(
        &mut self,
        client_id: &str,
        redirect_uri: &str,
        state: Option<&str>,
    ) -> Result<&mut PendingAuthorization, ApiError> {
        self.find(client_id, redirect_uri, state).ok_or_else(ApiError::missing_session)
    }

    /// Forgets a request that was answered.
    pub(crate) fn remove(&mut self, label: &str) {
        self.0.retain(|pending| pending.label() != label);
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn save(&mut self, session: &Session) -> Result<(), TooLarge> {
        if self.0.is_empty() {
            forget(session, KEY);
            return Ok(());
        }
        let room = MAX_PLAIN.saturating_sub(beside_pendings(session));
        session.insert(KEY, self.fit(room)?).map_err(|_| TooLarge)
    }

    /// The requests that the cookie will contain, as they stand there. If they do not all fit, the oldest are
    /// dropped, but never the newest.
    fn fit(&mut self, room: usize) -> Result<Box<RawValue>, TooLarge> {
        loop {
            let sealed: Vec<SealedPending> = self.0.iter().map(SealedPending::seal).collect();
            let sealed = to_raw_value(&sealed).map_err(|_| TooLarge)?;
            let mut requests = self.0.iter().filter_map(PendingAuthorization::client_request);
            let by_form = requests.any(|request| request.response_mode == ResponseMode::FormPost);
            let reserved = if by_form { MAX_ANSWER } else { 0 };
            if escaped_size(sealed.get()) + reserved <= room {
                return Ok(sealed);
            }
            if self.0.len() == 1 {
                return Err(TooLarge);
            }
            self.0.remove(0);
        }
    }
}

/// An invitation that waits until its client sends the person here to sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingInvitation {
    /// The invitation.
    pub(crate) invitation: AcceptedInvitation,
    /// The client.
    pub(crate) client: ClientId,
    /// When it is forgotten.
    pub(crate) expires_at: OffsetDateTime,
}

/// Remembers an invitation for the next sign-in at its client. It replaces an earlier one, and pending requests make
/// room for it.
pub(crate) fn save_invitation(
    session: &Session,
    waiting: &WaitingInvitation,
    now: OffsetDateTime,
) -> Result<(), TooLarge> {
    session.insert(INVITATION_KEY, SealedInvitation::seal(waiting)).map_err(|_| TooLarge)?;
    let mut pendings = Pendings::load(session, now);
    if pendings.len() == 0 { Ok(()) } else { pendings.save(session) }
}

/// The invitation that waits for this client.
pub(crate) fn invitation_for(
    session: &Session,
    client: ClientId,
    now: impl FnOnce() -> OffsetDateTime,
) -> Option<AcceptedInvitation> {
    let sealed: SealedInvitation = session.get(INVITATION_KEY).ok().flatten()?;
    let waiting = sealed.open().filter(|waiting| waiting.client == client && now() < waiting.expires_at)?;
    Some(waiting.invitation)
}

/// Forgets the invitation that waits.
pub(crate) fn forget_invitation(session: &Session) {
    if session.entries().contains_key(INVITATION_KEY) {
        forget(session, INVITATION_KEY);
    }
}

/// The size of what the session has besides the pending requests.
fn beside_pendings(session: &Session) -> usize {
    session.entries().iter().filter(|(key, _)| *key != KEY).map(|(_, text)| escaped_size(text)).sum()
}

/// Removes an entry from the session. If only the mark is left, the cookie is removed too.
fn forget(session: &Session, key: &str) {
    session.remove(key);
    let is_empty = session.entries().keys().all(|key| key == MARK_KEY);
    if is_empty {
        session.purge();
    }
}

/// The random value by which we recognize this browser's session. Only we know it, because the cookie is
/// sealed. The forms of the browser's pages are bound to it ([`crate::browser::forms`]). It stays the same
/// when the cookie is written again.
pub(crate) fn mark(session: &Session) -> Option<String> {
    session.get(MARK_KEY).ok().flatten()
}

/// The mark of a session. A session without one gets one.
pub(crate) fn mark_or_new(session: &Session, random: impl FnOnce() -> [u8; 16]) -> Result<String, ApiError> {
    if let Some(mark) = mark(session) {
        return Ok(mark);
    }
    let mark = URL_SAFE_NO_PAD.encode(random());
    session.insert(MARK_KEY, &mark).map_err(ApiError::server_error)?;
    Ok(mark)
}

/// Remembers a change of wallets until it is signed. It replaces an earlier one. If there is not enough room,
/// the oldest pending authorizations are dropped.
pub(crate) fn save_change(
    session: &Session,
    change: &PendingWalletChange,
    now: OffsetDateTime,
) -> Result<(), TooLarge> {
    session.insert(CHANGE_KEY, SealedChange::seal(change)).map_err(|_| TooLarge)?;
    let mut pendings = Pendings::load(session, now);
    if pendings.len() == 0 { Ok(()) } else { pendings.save(session) }
}

/// The change of wallets that is waiting for its signatures.
pub(crate) fn load_change(session: &Session) -> Result<PendingWalletChange, ApiError> {
    let sealed: Option<SealedChange> = session.get(CHANGE_KEY).ok().flatten();
    sealed.and_then(SealedChange::open).ok_or_else(ApiError::missing_session)
}

/// Forgets a change of wallets that was made.
pub(crate) fn forget_change(session: &Session) {
    forget(session, CHANGE_KEY);
}

/// Remembers a change at the desk until it is signed. It replaces an earlier one. If there is not enough room,
/// pending authorizations are dropped, and then what else waits.
pub fn save_desk_change(
    session: &Session,
    change: &PendingChange,
    now: OffsetDateTime,
) -> Result<(), TooLarge> {
    session.insert(DESK_KEY, SealedDeskChange::seal(change)).map_err(|_| TooLarge)?;
    for other in [CHANGE_KEY, ANSWER_KEY, INVITATION_KEY] {
        if beside_pendings(session) > MAX_PLAIN {
            session.remove(other);
        }
    }
    if beside_pendings(session) > MAX_PLAIN {
        return Err(TooLarge);
    }
    let mut pendings = Pendings::load(session, now);
    if pendings.len() > 0 && pendings.save(session).is_err() {
        session.remove(KEY);
    }
    Ok(())
}

/// The change at the desk that is waiting for its signature.
pub fn load_desk_change(session: &Session) -> Result<PendingChange, ApiError> {
    let sealed: Option<SealedDeskChange> = session.get(DESK_KEY).ok().flatten();
    sealed.and_then(SealedDeskChange::open).ok_or_else(ApiError::missing_session)
}

/// Forgets a change at the desk that cannot be made any more.
pub fn forget_desk_change(session: &Session) {
    forget(session, DESK_KEY);
}

/// Remembers in the place of a change at the desk that it was made, or proposed, for when the page is loaded
/// again.
pub fn note_desk_change_made(session: &Session, made: &MadeChange) -> Result<(), ApiError> {
    session.insert(DESK_KEY, made).map_err(ApiError::server_error)
}

/// The last change at the desk that was made in this browser.
pub fn desk_change_made(session: &Session) -> Option<MadeChange> {
    session.get(DESK_KEY).ok().flatten()
}

/// A change at the desk that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeChange {
    /// Its id, as its text names it.
    pub id: String,
    /// Does it wait for a second operator?
    pub proposed: bool,
    /// The id of the request that made it, which its events have.
    pub request: Option<String>,
    /// Its new secrets, hidden from everyone who does not send the same signature again.
    pub secrets: Option<String>,
    /// Until when they are shown again, in seconds since 1970.
    pub until: i64,
}

/// Saves a response for the page that posts it. It replaces an earlier one, and pending requests make room
/// for it.
pub(crate) fn save_answer(
    session: &Session,
    answer: &ClientAnswer,
    mut pendings: Pendings,
) -> Result<(), TooLarge> {
    let sealed = SealedAnswer::seal(answer);
    let text = serde_json::to_string(&sealed).map_err(|_| TooLarge)?;
    if escaped_size(&text) > MAX_PLAIN {
        return Err(TooLarge);
    }
    session.insert(ANSWER_KEY, sealed).map_err(|_| TooLarge)?;
    if pendings.save(session).is_err() {
        session.remove(KEY);
    }
    Ok(())
}

/// Removes the response that is waiting for its page from the session, and returns it.
pub(crate) fn take_answer(session: &Session) -> Option<ClientAnswer> {
    let sealed: SealedAnswer = session.get(ANSWER_KEY).ok().flatten()?;
    forget(session, ANSWER_KEY);
    Some(sealed.open())
}

/// The size of one entry of what actix-session seals: a JSON map of JSON texts, in which every quote and every backslash is
/// escaped once more.
fn escaped_size(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    text.len() + escaped + BESIDE_TEXT
}

#[cfg(test)]
mod tests;
