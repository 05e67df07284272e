//! What applications received from a trial server, so that their developers can look at it. It is only in memory, without
//! the tokens themselves, and no other server keeps it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::secret::Secret;
use countersign_usecases::TokenAnswer;
use serde_json::{Map, Value};

/// How many applications are remembered: those that received something last.
const MOST: usize = 50;

pub(crate) type Claims = Map<String, Value>;

/// What one application received last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// The client's id, as it is in its tokens.
    pub(crate) client_id: String,
    pub(crate) access_token: Claims,
    pub(crate) id_token: Option<Claims>,
    pub(crate) has_refresh_token: bool,
}

#[derive(Default)]
pub(crate) struct Received(Mutex<VecDeque<Receipt>>);

impl Received {
    /// Remembers an answer of the token endpoint. It takes the place of what the same application received before; an ID
    /// token stays until there is a newer one, because a refresh may come without.
    pub(crate) fn note(&self, answer: &TokenAnswer) {
        let Some(access_token) = claims(&answer.access_token) else { return };
        let Some(client_id) = access_token.get("client_id").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let mut receipts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = receipts.iter().position(|receipt| receipt.client_id == client_id);
        let before = place.and_then(|place| receipts.remove(place));
        let is_same_person = |before: &Receipt| before.access_token.get("sub") == access_token.get("sub");
        let kept = before.filter(is_same_person).and_then(|before| before.id_token);
        let id_token = answer.id_token.as_ref().and_then(claims).or(kept);
        let has_refresh_token = answer.refresh_token.is_some();
        receipts.push_front(Receipt { client_id, access_token, id_token, has_refresh_token });
        receipts.truncate(MOST);
    }

    /// The newest first; only that of one client if it is named.
    pub(crate) fn list(&self, client_id: Option<&str>) -> Vec<Receipt> {
        let receipts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = |receipt: &&Receipt| client_id.is_none_or(|id| receipt.client_id == id);
        receipts.iter().filter(wanted).cloned().collect()
    }
}

/// The claims of a token that this server has just signed.
fn claims(token: &Secret) -> Option<Claims> {
    let payload = token.expose().split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use countersign_domain::scope::ScopeSet;
    use serde_json::json;

    use super::*;

    fn token(claims: &Value) -> Secret {
        Secret::new(format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string())))
    }

    fn answer(client: &str, sub: &str, id_token: Option<&Value>) -> TokenAnswer {
        TokenAnswer {
            access_token: token(&json!({"client_id": client, "sub": sub})),
            expires_in: 60,
            refresh_token: None,
            scope: ScopeSet::default(),
            id_token: id_token.map(token),
            key: None,
        }
    }

    #[test]
    fn only_the_last_answer_of_each_client_is_remembered_and_no_more_clients_than_there_is_room_for() {
        let received = Received::default();
        (0..MOST + 10).for_each(|number| received.note(&answer(&number.to_string(), "alice", None)));
        received.note(&answer("59", "bob", None));
        let listed = received.list(None);
        assert_eq!((listed.len(), listed[0].client_id.as_str()), (MOST, "59"));
        assert_eq!(listed[0].access_token["sub"], "bob");
        assert!(received.list(Some("3")).is_empty(), "the oldest were forgotten");
    }

    #[test]
    fn an_id_token_stays_for_the_same_person_only() {
        let (received, id_token) = (Received::default(), json!({"sub": "alice"}));
        received.note(&answer("shop", "alice", Some(&id_token)));
        received.note(&answer("shop", "alice", None));
        assert!(received.list(Some("shop"))[0].id_token.is_some());
        received.note(&answer("shop", "bob", None));
        assert_eq!(received.list(Some("shop"))[0].id_token, None);
    }

    #[test]
    fn nothing_of_a_token_is_kept_but_its_claims() {
        let received = Received::default();
        let mut answered = answer("shop", "alice", Some(&json!({"sub": "alice"})));
        answered.refresh_token = Some(Secret::new("a-refresh-token".to_owned()));
        received.note(&answered);
        let kept = format!("{:?}", received.list(None));
        for secret in [answered.access_token.expose(), "c2ln", "a-refresh-token"] {
            assert!(!kept.contains(secret), "{kept}");
        }
    }
}
