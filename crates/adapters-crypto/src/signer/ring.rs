//! All keys at one point in time. A ring never changes: when the keys change, a new ring replaces it.

use std::sync::Arc;

use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{KeyState, SealedKey, standing_keys};
use countersign_ports::PublicKeys;
use josekit::JoseError;
use josekit::jws::{JwsSigner, JwsVerifier};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::ACCESS_ALGORITHM;
use super::header::TokenType;
use super::keys::{KeyError, SigningKey};
use crate::OperatorSecret;

/// Keys, grouped by what they are for.
pub(super) struct Ring {
    /// The state of each key, both published and withdrawn.
    standing: Vec<Standing>,
    /// The active keys, then the next ones, then the retired ones.
    published: Vec<Arc<OpenKey>>,
    /// The headers of access tokens signed by withdrawn keys.
    withdrawn_headers: Vec<String>,
    public_keys: PublicKeys,
}

#[derive(Clone, PartialEq, Eq)]
struct Standing {
    kid: String,
    algorithm: SigningAlgorithm,
    state: KeyState,
    /// Unknown for a key that was never stored.
    active_from: Option<OffsetDateTime>,
}

/// A key whose state has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// The key's id.
    pub kid: String,
    /// Its algorithm.
    pub algorithm: SigningAlgorithm,
    /// Its state now; `None` if the key was deleted.
    pub state: Option<KeyState>,
}

/// A key that is ready for use.
pub(super) struct OpenKey {
    kid: String,
    algorithm: SigningAlgorithm,
    comes_with_macs: bool,
    jwk: Value,
    signer: Box<dyn JwsSigner>,
    verifier: Box<dyn JwsVerifier>,
    access_header: String,
    id_header: String,
    logout_header: String,
    checkpoint_header: String,
    security_event_header: String,
}

/// A published key, its state, and since when it signs.
type Found = (Arc<OpenKey>, KeyState, Option<OffsetDateTime>);

impl OpenKey {
    fn new(key: &SigningKey) -> Result<Self, KeyError> {
        let header = |typ: TokenType| typ.header(key.algorithm(), key.kid());
        Ok(Self {
            kid: key.kid().to_owned(),
            algorithm: key.algorithm(),
            comes_with_macs: key.comes_with_macs(),
            jwk: key.jwk(),
            signer: key.signer()?,
            verifier: key.verifier()?,
            access_header: header(TokenType::Access),
            id_header: header(TokenType::Id),
            logout_header: header(TokenType::Logout),
            checkpoint_header: header(TokenType::Checkpoint),
            security_event_header: header(TokenType::SecurityEvent),
        })
    }

    pub(super) fn header(&self, typ: TokenType) -> &str {
        match typ {
            TokenType::Access => &self.access_header,
            TokenType::Id => &self.id_header,
            TokenType::Logout => &self.logout_header,
            TokenType::Checkpoint => &self.checkpoint_header,
            TokenType::SecurityEvent => &self.security_event_header,
        }
    }

    pub(super) fn kid(&self) -> &str {
        &self.kid
    }

    pub(super) const fn comes_with_macs(&self) -> bool {
        self.comes_with_macs
    }

    pub(super) fn jwk(&self) -> &Value {
        &self.jwk
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, JoseError> {
        self.signer.sign(message)
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.verifier.verify(message, signature).is_ok()
    }
}

impl Ring {
    /// A ring of keys that were never stored.
    pub(super) fn of(keys: &[SigningKey]) -> Result<Self, KeyError> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let is_first = found.iter().all(|(other, ..): &Found| other.algorithm != key.algorithm());
            let state = if is_first { KeyState::Active } else { KeyState::Retired };
            found.push((Arc::new(OpenKey::new(key)?), state, None));
        }
        Ok(Self::new(found, &[]))
    }

    /// The ring of the stored keys; `None` if nothing has changed. Keys that are already open are reused.
    /// Algorithms of a later release are ignored.
    pub(super) fn follow(
        &self,
        stored: &[SealedKey],
        secret: &OperatorSecret,
        now: OffsetDateTime,
    ) -> Result<Option<Self>, KeyError> {
        let mut found = Vec::new();
        let mut withdrawn = Vec::new();
        for algorithm in SigningAlgorithm::ALL {
            for standing in standing_keys(stored, algorithm, now) {
                if standing.state.is_published() {
                    let known = self.published.iter().find(|open| open.kid == standing.key.kid);
                    let open = match known {
                        Some(open) => Arc::clone(open),
                        None => Arc::new(OpenKey::new(&SigningKey::open(secret, standing.key)?)?),
                    };
                    found.push((open, standing.state, Some(standing.key.active_from)));
                } else {
                    withdrawn.push((standing.key.kid.as_str(), algorithm));
                }
            }
        }
        let ring = Self::new(found, &withdrawn);
        Ok((ring.standing != self.standing).then_some(ring))
    }

    fn new(mut found: Vec<Found>, withdrawn: &[(&str, SigningAlgorithm)]) -> Self {
        found.sort_by_key(|(_, state, _)| *state);
        let good = found.iter().map(|(key, state, active_from)| Standing {
            kid: key.kid.clone(),
            algorithm: key.algorithm,
            state: *state,
            active_from: *active_from,
        });
        let given_up = withdrawn.iter().map(|(kid, algorithm)| Standing {
            kid: (*kid).to_owned(),
            algorithm: *algorithm,
            state: KeyState::Withdrawn,
            active_from: None,
        });
        let standing: Vec<Standing> = good.chain(given_up).collect();
        let published: Vec<Arc<OpenKey>> = found.into_iter().map(|(key, ..)| key).collect();
        let keys: Vec<&Value> = published.iter().map(|key| &key.jwk).collect();
        let can_sign = |algorithm: &SigningAlgorithm| published.iter().any(|key| key.algorithm == *algorithm);
        let algorithms = SigningAlgorithm::ALL.into_iter().filter(can_sign);
        let public_keys = PublicKeys {
            jwks: json!({ "keys": keys }).to_string(),
            algorithms: algorithms.map(|algorithm| algorithm.name().to_owned()).collect(),
        };
        let withdrawn_headers = withdrawn
            .iter()
            .filter(|(_, algorithm)| *algorithm == ACCESS_ALGORITHM)
            .map(|(kid, algorithm)| TokenType::Access.header(*algorithm, kid))
            .collect();
        Self { standing, published, withdrawn_headers, public_keys }
    }

    /// The key that signs: the first of its algorithm, because the active ones come first.
    pub(super) fn active(&self, algorithm: SigningAlgorithm) -> Option<&OpenKey> {
        self.published.iter().find(|key| key.algorithm == algorithm).map(AsRef::as_ref)
    }

    /// For each key that signs now, since when it has done so.
    pub(super) fn active_since(&self) -> impl Iterator<Item = (SigningAlgorithm, OffsetDateTime)> {
        let active = self.standing.iter().filter(|standing| standing.state == KeyState::Active);
        active.filter_map(|standing| Some((standing.algorithm, standing.active_from?)))
    }

    /// The keys in our published key set, with which others verify tokens.
    pub(super) fn published(&self) -> impl Iterator<Item = &OpenKey> {
        self.published.iter().map(AsRef::as_ref)
    }

    /// The encoded headers with which our access tokens begin.
    pub(super) fn access_headers(&self) -> impl Iterator<Item = &str> {
        let keys = self.published.iter().filter(|key| key.algorithm == ACCESS_ALGORITHM);
        let headers = keys.map(|key| key.access_header.as_str());
        headers.chain(self.withdrawn_headers.iter().map(String::as_str))
    }

    pub(super) const fn public_keys(&self) -> &PublicKeys {
        &self.public_keys
    }

    /// The keys whose state differs in the other ring.
    pub(super) fn changes_to(&self, after: &Self) -> Vec<KeyChange> {
        let changed = after.standing.iter().filter(|now| !self.standing.contains(now)).map(|now| KeyChange {
            kid: now.kid.clone(),
            algorithm: now.algorithm,
            state: Some(now.state),
        });
        let is_gone = |before: &&Standing| after.standing.iter().all(|now| now.kid != before.kid);
        let gone = self.standing.iter().filter(is_gone).map(|before| KeyChange {
            kid: before.kid.clone(),
            algorithm: before.algorithm,
            state: None,
        });
        changed.chain(gone).collect()
    }
}
