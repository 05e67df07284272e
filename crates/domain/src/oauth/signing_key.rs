//! Signing keys as stored: sealed, so that no one can sign with a copy of the database. Also decides what
//! each key is used for at a given time.

use std::fmt;

use time::{Duration, OffsetDateTime};

use crate::signing_algorithm::SigningAlgorithm;

/// How long a key is published before it signs, so that everyone who caches our key set has it by then.
pub const ANNOUNCED_FOR: Duration = Duration::hours(24);

/// The longest lifetime of an access token that an operator can set. ID tokens and logout tokens have shorter
/// ones.
pub const LONGEST_TOKEN: Duration = Duration::hours(24);

/// How long others can cache our key set, with time to spare for replicas that learn of a new key later than
/// others.
pub const KEY_SET_KEPT_FOR: Duration = Duration::hours(1);

/// A key that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// The `kid` in the JWKS.
    pub kid: String,
    /// The algorithm, for example `ES256`.
    pub algorithm: String,
    /// The private key, sealed with the operator's secret.
    pub sealed: Vec<u8>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// The time from which it signs.
    pub active_from: OffsetDateTime,
    /// When the operator withdrew it.
    pub withdrawn_at: Option<OffsetDateTime>,
}

/// What a key is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyState {
    /// It signs.
    Active,
    /// It is published, and will sign later.
    Announced,
    /// Another key signs. This one is published until everything that it signed has expired.
    Retired,
    /// The operator withdrew it: it is not published, and nothing that it signed is accepted.
    Withdrawn,
}

/// A key, and what it is used for at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingKey<'a> {
    /// The key.
    pub key: &'a SealedKey,
    /// What it is used for.
    pub state: KeyState,
    /// When it can be deleted, if it no longer signs.
    pub forget_after: Option<OffsetDateTime>,
}

/// A key that must be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyWanted {
    /// The time from which it will sign.
    pub active_from: OffsetDateTime,
    /// If there is a key that becomes active later than this, the new one is not needed: another replica was
    /// faster.
    pub unless_after: OffsetDateTime,
}

impl KeyState {
    /// The word for the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Announced => "announced",
            Self::Retired => "retired",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Is a key in this state part of the key set?
    pub const fn is_published(self) -> bool {
        match self {
            Self::Active | Self::Announced | Self::Retired => true,
            Self::Withdrawn => false,
        }
    }
}

/// The keys of one algorithm and their states now: the active one, the next ones, the retired ones (newest
/// first), the withdrawn ones.
///
/// The active key is the newest whose time has come. If no key's time has come, because the clock that
/// created it is ahead of ours, it is the key that becomes active first: it is published, and something must
/// sign.
pub fn standing_keys(
    keys: &[SealedKey],
    algorithm: SigningAlgorithm,
    now: OffsetDateTime,
) -> Vec<StandingKey<'_>> {
    let of_algorithm = keys.iter().filter(|key| key.algorithm == algorithm.name());
    let (withdrawn, mut good): (Vec<_>, Vec<_>) = of_algorithm.partition(|key| key.withdrawn_at.is_some());
    good.sort_by(|one, other| (other.active_from, &other.kid).cmp(&(one.active_from, &one.kid)));
    let begun = good.iter().position(|key| key.active_from <= now);
    let active = begun.or_else(|| good.len().checked_sub(1));
    let mut standing = Vec::with_capacity(good.len() + withdrawn.len());
    let mut successor = None;
    for (place, key) in good.into_iter().enumerate() {
        let state = match active.map(|active| place.cmp(&active)) {
            Some(std::cmp::Ordering::Less) | None => KeyState::Announced,
            Some(std::cmp::Ordering::Equal) => KeyState::Active,
            Some(std::cmp::Ordering::Greater) => KeyState::Retired,
        };
        let forget_after = if state == KeyState::Retired { successor.map(forget_after) } else { None };
        standing.push(StandingKey { key, state, forget_after });
        successor = Some(key.active_from);
    }
    let given_up = withdrawn.into_iter().map(|key| StandingKey {
        key,
        state: KeyState::Withdrawn,
        forget_after: key.withdrawn_at.map(forget_after),
    });
    standing.extend(given_up);
    standing.sort_by_key(|standing| standing.state);
    standing
}

/// The time at which the last token of a key that stopped signing has expired, and no one caches an older key
/// set.
fn forget_after(stopped: OffsetDateTime) -> OffsetDateTime {
    stopped.saturating_add(LONGEST_TOKEN).saturating_add(KEY_SET_KEPT_FOR)
}

/// The key that must be created now: the first one, or the next one [`ANNOUNCED_FOR`] before the active one
/// reaches its maximum age. Without a `rotation` there is no maximum age.
pub fn key_due(
    keys: &[SealedKey],
    algorithm: SigningAlgorithm,
    now: OffsetDateTime,
    rotation: Option<Duration>,
) -> Option<KeyWanted> {
    let standing = standing_keys(keys, algorithm, now);
    let Some(active) = standing.first().filter(|key| key.state == KeyState::Active) else {
        return Some(KeyWanted { active_from: now, unless_after: OffsetDateTime::UNIX_EPOCH });
    };
    if standing.iter().any(|key| key.state == KeyState::Announced) {
        return None;
    }
    let ends = active.key.active_from.saturating_add(rotation?);
    if now < ends.saturating_sub(ANNOUNCED_FOR) {
        return None;
    }
    let active_from = ends.max(now.saturating_add(ANNOUNCED_FOR));
    Some(KeyWanted { active_from, unless_after: active.key.active_from })
}

/// The next key, if an operator asks for it early; `None` if there is one already.
pub fn key_wanted(keys: &[SealedKey], algorithm: SigningAlgorithm, now: OffsetDateTime) -> Option<KeyWanted> {
    key_due(keys, algorithm, now, Some(Duration::ZERO))
}

/// The key that replaces all others at once.
pub fn key_wanted_at_once(keys: &[SealedKey], algorithm: SigningAlgorithm, now: OffsetDateTime) -> KeyWanted {
    let standing = standing_keys(keys, algorithm, now);
    let good = standing.iter().filter(|key| key.state != KeyState::Withdrawn);
    let latest = good.map(|key| key.key.active_from).max();
    KeyWanted { active_from: now, unless_after: latest.unwrap_or(OffsetDateTime::UNIX_EPOCH) }
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedKey")
            .field("kid", &self.kid)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
