//! Devices that cannot show a page (RFC 8628). They show a short code, and a person answers for them in a
//! browser elsewhere.
//!
//! The grant that answers a device request has the request's id and the device's code. So a request is
//! answered only once, however many people type the code, and it is redeemed like any other grant.

use std::fmt;

use time::{Duration, OffsetDateTime};

use crate::id::{ClientId, GrantId};
use crate::public_url::PublicUrl;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;
use crate::secret::{Secret, SecretHash};

/// How long a device request waits for its answer.
pub const LIFETIME: Duration = Duration::minutes(10);

/// How long after that a device still learns why it gets no tokens.
pub const REMEMBERED: Duration = Duration::minutes(10);

/// How many seconds a device must wait between two polls.
pub const INTERVAL: u32 = 5;

/// The page where people type the code.
pub const DEVICE_PAGE: &str = "/device";

/// The page that a person sees after answering.
pub const DEVICE_DONE: &str = "/device/done";

/// Only consonants: no words, no digits, and no characters that look alike (RFC 8628 section 6.1).
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

const LENGTH: usize = 8;

/// The code that a device shows and a person types: eight letters, a little more than 34 bits. It is not a
/// secret that opens anything. Someone who knows it can only answer the request, and only with their own
/// wallet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UserCode([u8; LENGTH]);

impl UserCode {
    /// Makes a code. There are so many more random bits than codes that every code is equally likely.
    pub fn from_random(random: [u8; 16]) -> Self {
        let mut rest = u128::from_be_bytes(random);
        let mut letters = [0; LENGTH];
        for letter in &mut letters {
            let place = usize::try_from(rest % 20).unwrap_or_default();
            *letter = ALPHABET.get(place).copied().unwrap_or(b'B');
            rest /= 20;
        }
        Self(letters)
    }

    /// Parses what a person typed. Case, spaces and hyphens do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let mut letters = [0; LENGTH];
        let mut typed = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
        for letter in &mut letters {
            let upper = u8::try_from(typed.next()?).ok()?.to_ascii_uppercase();
            *letter = ALPHABET.contains(&upper).then_some(upper)?;
        }
        typed.next().is_none().then_some(Self(letters))
    }

    /// The hash that storage keeps of the code.
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(&Secret::new(self.to_string()))
    }
}

impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in self.0.iter().enumerate() {
            if place == LENGTH / 2 {
                f.write_str("-")?;
            }
            write!(f, "{}", char::from(*letter))?;
        }
        Ok(())
    }
}

impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserCode(..)")
    }
}

impl RedirectUri {
    /// The page that a person sees after answering for a device. It also marks the grant of a device.
    pub fn of_device(public_url: &PublicUrl) -> Self {
        Self::from_trusted(public_url.join(DEVICE_DONE))
    }
}

/// A device request as stored. Nothing about it changes, except that it can be denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Its id, which is also the grant's.
    pub id: GrantId,
    /// The client that the device runs.
    pub client: ClientId,
    /// The hash of the code that the device shows.
    pub user_code_hash: SecretHash,
    /// The hash of the code that the device sends, which is also the grant's.
    pub code_hash: SecretHash,
    /// The scopes that would be granted.
    pub scope: ScopeSet,
    /// The resources that access tokens will be for.
    pub resources: Vec<String>,
    /// When the request expires.
    pub expires_at: OffsetDateTime,
    /// Did someone deny it?
    pub denied: bool,
}

/// Why a device gets no tokens, as far as is known without its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceRejected {
    /// There is no such code.
    #[error("device code is unknown")]
    Unknown,
    /// The code was issued to another client, and stays valid for that client.
    #[error("device code belongs to another client")]
    OtherClient,
    /// Someone denied the request.
    #[error("the person denied the request")]
    Denied,
    /// No one answered in time.
    #[error("device code has expired")]
    Expired,
    /// No one has answered yet.
    #[error("no one has answered the device yet")]
    Pending,
}

impl DeviceRequest {
    /// Can a person still answer it?
    pub fn waits(&self, now: OffsetDateTime) -> bool {
        !self.denied && now < self.expires_at
    }

    /// Checks a presented device code as far as possible without the grant. A denial is final, even if
    /// someone else signed.
    pub fn admit(&self, presented: &Secret, client: ClientId) -> Result<(), DeviceRejected> {
        if !self.code_hash.admits(presented) {
            return Err(DeviceRejected::Unknown);
        }
        if self.client != client {
            return Err(DeviceRejected::OtherClient);
        }
        if self.denied { Err(DeviceRejected::Denied) } else { Ok(()) }
    }

    /// What a device learns while there is no grant.
    pub fn unanswered(&self, now: OffsetDateTime) -> DeviceRejected {
        if now < self.expires_at { DeviceRejected::Pending } else { DeviceRejected::Expired }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_however_it_is_typed() {
        let code = UserCode::parse("WDJB-MJHT").unwrap();
        assert_eq!(code.to_string(), "WDJB-MJHT");
        for typed in ["wdjbmjht", " WDJB mjht ", "w-d-j-b-m-j-h-t", "WDJB\u{a0}MJHT"] {
            assert_eq!(UserCode::parse(typed), Some(code), "{typed}");
        }
        for typed in ["", "WDJB-MJH", "WDJB-MJHTB", "WDJA-MJHT", "WDJ8-MJHT", "WDJB-MJHÉ", "ＷDJB-MJHT"] {
            assert_eq!(UserCode::parse(typed), None, "{typed}");
        }
    }

    #[test]
    fn every_random_number_is_a_code_that_can_be_typed() {
        for random in [[0; 16], [255; 16], *b"sixteen bytes!!!"] {
            let code = UserCode::from_random(random);
            assert_eq!(UserCode::parse(&code.to_string()), Some(code));
        }
        assert_ne!(UserCode::from_random([1; 16]).hash(), UserCode::from_random([2; 16]).hash());
    }

    #[test]
    fn a_device_code_is_judged_from_the_code_to_the_answer() {
        let code = Secret::from_random([3; 32]);
        let now = OffsetDateTime::UNIX_EPOCH;
        let client = ClientId::at(now, [1; 10]);
        let request = DeviceRequest {
            id: GrantId::at(now, [2; 10]),
            client,
            user_code_hash: UserCode::from_random([0; 16]).hash(),
            code_hash: SecretHash::of(&code),
            scope: ScopeSet::default(),
            resources: Vec::new(),
            expires_at: now + LIFETIME,
            denied: false,
        };
        assert_eq!(request.admit(&code, client), Ok(()));
        assert_eq!(request.admit(&Secret::new("another"), client), Err(DeviceRejected::Unknown));
        assert_eq!(request.admit(&code, ClientId::at(now, [9; 10])), Err(DeviceRejected::OtherClient));
        assert_eq!(request.unanswered(now), DeviceRejected::Pending);
        assert_eq!(request.unanswered(request.expires_at), DeviceRejected::Expired);
        let denied = DeviceRequest { denied: true, ..request };
        assert_eq!(denied.admit(&code, client), Err(DeviceRejected::Denied));
        assert!(!denied.waits(now));
    }
}
