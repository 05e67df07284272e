//! The session: the mark of the browser, pending authorizations, the fingerprints of their challenges, one change of wallets, and one answer on its way
//! to a client, sealed in the cookie.
//!
//! Nothing of it is stored by us, so nobody can fill the store by asking. Because the browser keeps it, an old copy can
//! come back: what must happen once is guarded in storage, and an old copy can only ask for a new challenge.

mod sealed;

use actix_session::Session;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::wallet_change::PendingWalletChange;
use countersign_usecases::steps::answer::ClientAnswer;
use time::OffsetDateTime;

use crate::error::ApiError;
use sealed::{SealedAnswer, SealedChange, SealedPending};

const KEY: &str = "p";
const CHANGE_KEY: &str = "w";
const ANSWER_KEY: &str = "a";
const MARK_KEY: &str = "m";

/// Browsers keep 4,096 bytes of a cookie. Sealing adds 28 bytes and base64 a third; about one character in 32 is then written
/// as three; the name and some air go off.
const MAX_PLAIN: usize = 2_740;

/// What an answer by a form may take more than the request did that it answers: a code or an error, and the issuer.
const MAX_ANSWER: usize = 400;

/// The cookie's name. `__Host-` keeps sibling domains from setting it (B-062), but needs https.
pub(crate) const fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-oauth_session" } else { "oauth_session" }
}

/// The pending authorizations of one browser, oldest first; only live ones.
pub(crate) struct Pendings(Vec<PendingAuthorization>);

/// One request does not fit into a cookie.
#[derive(Debug, thiserror::Error)]
#[error("the request is too large for a session cookie")]
pub(crate) struct TooLarge;

impl Pendings {
    /// Reads what the cookie holds. Whatever cannot be read, or is not live any more, is not there.
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

    /// Reads the session of a request that needs one.
    pub(crate) fn require(session: &Session, now: OffsetDateTime) -> Result<Self, ApiError> {
        let pendings = Self::load(session, now);
        if pendings.0.is_empty() { Err(ApiError::missing_session()) } else { Ok(pendings) }
    }

    /// Adds a request as the newest; the same request again takes the place of its elder.
    pub(crate) fn add(&mut self, pending: PendingAuthorization) {
        self.0.retain(|other| other.label() != pending.label());
        self.0.push(pending);
    }

    /// The newest request.
    pub(crate) fn newest(&mut self) -> Option<&mut PendingAuthorization> {
        self.0.last_mut()
    }

    /// The request with this label, or the newest where no label is given. One that was answered is not replaced by another.
    pub(crate) fn labeled_or_newest(&mut self, label: Option<&str>) -> Option<&mut PendingAuthorization> {
        match label {
            Some(label) => self.0.iter_mut().rfind(|pending| pending.label() == label),
            None => self.newest(),
        }
    }

    /// The request that a page or a client means.
    pub(crate) fn find(
        &mut self,
        client_id: &str,
        redirect_uri: &str,
        state: Option<&str>,
    ) -> Option<&mut PendingAuthorization> {
        let state = state.filter(|state| !state.is_empty());
        self.0.iter_mut().rfind(|pending| pending.is(client_id, redirect_uri, state))
    }

    /// The request that is named, or the newest if nothing is: for a text to sign, which changes nothing.
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

    /// The request that is named.
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

    /// How many requests wait?
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes the cookie.
    pub(crate) fn save(mut self, session: &Session) -> Result<(), TooLarge> {
        if self.0.is_empty() {
            forget(session, KEY);
            return Ok(());
        }
        let entries = session.entries();
        let taken = [CHANGE_KEY, ANSWER_KEY, MARK_KEY]
            .map(|key| entries.get(key).map_or(0, |text| escaped_size(text)));
        drop(entries);
        let room = taken.into_iter().fold(MAX_PLAIN, usize::saturating_sub);
        session.insert(KEY, self.fit(room)?).map_err(|_| TooLarge)
    }

    /// What the cookie will hold. If not all fits, the oldest request gives way, but never the newest.
    fn fit(&mut self, room: usize) -> Result<Vec<SealedPending>, TooLarge> {
        loop {
            let sealed: Vec<SealedPending> = self.0.iter().map(SealedPending::seal).collect();
            let mut requests = self.0.iter().filter_map(PendingAuthorization::client_request);
            let by_form = requests.any(|request| request.response_mode == ResponseMode::FormPost);
            let reserved = if by_form { MAX_ANSWER } else { 0 };
            if plain_size(&sealed) + reserved <= room {
                return Ok(sealed);
            }
            if self.0.len() == 1 {
                return Err(TooLarge);
            }
            self.0.remove(0);
        }
    }
}

/// Takes something out of the session; an empty one takes the cookie with it. The mark alone is nothing to keep.
fn forget(session: &Session, key: &str) {
    session.remove(key);
    let is_empty = session.entries().keys().all(|key| key == MARK_KEY);
    if is_empty {
        session.purge();
    }
}

/// What tells this browser's session from every other: random, and known to nobody but us, because the cookie is sealed. The forms of
/// its pages are bound to it ([`crate::browser::forms`]). It stays the same however often the cookie is written anew.
pub(crate) fn mark(session: &Session) -> Option<String> {
    session.get(MARK_KEY).ok().flatten()
}

/// The mark of a session, which has one from now on.
pub(crate) fn mark_or_new(session: &Session, random: impl FnOnce() -> [u8; 16]) -> Result<String, ApiError> {
    if let Some(mark) = mark(session) {
        return Ok(mark);
    }
    let mark = URL_SAFE_NO_PAD.encode(random());
    session.insert(MARK_KEY, &mark).map_err(ApiError::server_error)?;
    Ok(mark)
}

/// Remembers the texts of a change of wallets; a later change takes its place. Pending authorizations give way to it, the
/// oldest first.
pub(crate) fn save_change(
    session: &Session,
    change: &PendingWalletChange,
    now: OffsetDateTime,
) -> Result<(), TooLarge> {
    session.insert(CHANGE_KEY, SealedChange::seal(change)).map_err(|_| TooLarge)?;
    let pendings = Pendings::load(session, now);
    if pendings.len() == 0 { Ok(()) } else { pendings.save(session) }
}

/// The change of wallets that waits for its signatures.
pub(crate) fn load_change(session: &Session) -> Result<PendingWalletChange, ApiError> {
    let sealed: Option<SealedChange> = session.get(CHANGE_KEY).ok().flatten();
    sealed.and_then(SealedChange::open).ok_or_else(ApiError::missing_session)
}

/// The change was made.
pub(crate) fn forget_change(session: &Session) {
    forget(session, CHANGE_KEY);
}

/// Keeps an answer for the page that posts it; a later one takes its place, and requests that still wait give way to it.
pub(crate) fn save_answer(
    session: &Session,
    answer: &ClientAnswer,
    pendings: Pendings,
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

/// Takes the answer out that waits for its page.
pub(crate) fn take_answer(session: &Session) -> Option<ClientAnswer> {
    let sealed: SealedAnswer = session.get(ANSWER_KEY).ok().flatten()?;
    forget(session, ANSWER_KEY);
    Some(sealed.open())
}

/// What actix-session is going to seal: a JSON map of JSON texts, so that every quote is escaped once more.
fn plain_size(sealed: &[SealedPending]) -> usize {
    let text = serde_json::to_string(sealed).unwrap_or_default();
    escaped_size(&text)
}

/// The size of one entry of the map.
fn escaped_size(text: &str) -> usize {
    serde_json::to_string(&[(KEY, text)]).map_or(usize::MAX, |text| text.len())
}

#[cfg(test)]
mod tests;
