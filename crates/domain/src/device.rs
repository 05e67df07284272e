//! Devices that cannot show a page (RFC 8628): they show a short code, and a person answers for them in a browser elsewhere.
//!
//! The grant that answers a device request has its id, and its code is the device's. So it is answered once, however many
//! people type the code, and redeemed like any other.

use std::fmt;

use time::{Duration, OffsetDateTime};

use crate::id::{ClientId, GrantId};
use crate::scope::ScopeSet;
use crate::secret::{Secret, SecretHash};

/// How long a device waits for its answer.
pub const LIFETIME: Duration = Duration::minutes(10);

/// How long afterwards a device still hears why there is none.
pub const REMEMBERED: Duration = Duration::minutes(10);

/// How many seconds a device lets pass between two questions.
pub const INTERVAL: u32 = 5;

/// The page on which people type the code.
pub const DEVICE_PAGE: &str = "/device";

/// Where a person comes to who answered.
pub const DEVICE_DONE: &str = "/device/done";

/// Consonants only: no words, no digits, nothing that looks like another (RFC 8628 section 6.1).
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

const LENGTH: usize = 8;

/// The code that a device shows and a person types: eight letters, a little more than 34 bits. It is no secret that opens
/// anything: whoever knows it can answer the request, and with their own wallet only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UserCode([u8; LENGTH]);

impl UserCode {
    /// Makes a code. What the 128 bits have more than 20^8 makes every code as likely as any other.
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

    /// Reads what a person typed: case, spaces and hyphens do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let mut letters = [0; LENGTH];
        let mut typed = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
        for letter in &mut letters {
            let upper = u8::try_from(typed.next()?).ok()?.to_ascii_uppercase();
            *letter = ALPHABET.contains(&upper).then_some(upper)?;
        }
        typed.next().is_none().then_some(Self(letters))
    }

    /// What storage keeps of it.
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

/// A device that waits, as storage has it. Nothing of it changes, but that it may be denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Its id, which becomes the grant's.
    pub id: GrantId,
    /// Which client the device runs.
    pub client: ClientId,
    /// What we keep of the code that the device shows.
    pub user_code_hash: SecretHash,
    /// What we keep of the code that the device sends; it becomes the grant's.
    pub code_hash: SecretHash,
    /// What would be granted.
    pub scope: ScopeSet,
    /// The resources that access tokens shall be for.
    pub resources: Vec<String>,
    /// When it stops waiting.
    pub expires_at: OffsetDateTime,
    /// Did somebody say no?
    pub denied: bool,
}

/// Why a device gets no tokens, before its grant is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceRejected {
    /// No such code.
    #[error("device code is unknown")]
    Unknown,
    /// The code was issued to another client; it stays good for that one.
    #[error("device code belongs to another client")]
    OtherClient,
    /// Somebody said no.
    #[error("the person denied the request")]
    Denied,
    /// Nobody answered in time.
    #[error("device code has expired")]
    Expired,
    /// Nobody has answered yet.
    #[error("nobody has answered the device yet")]
    Pending,
}

impl DeviceRequest {
    /// May a person still answer it?
    pub fn waits(&self, now: OffsetDateTime) -> bool {
        !self.denied && now < self.expires_at
    }

    /// Judges a presented device code, as far as no grant is needed for it. A denial is final, whatever was signed beside it.
    pub fn admit(&self, presented: &Secret, client: ClientId) -> Result<(), DeviceRejected> {
        if !self.code_hash.admits(presented) {
            return Err(DeviceRejected::Unknown);
        }
        if self.client != client {
            return Err(DeviceRejected::OtherClient);
        }
        if self.denied { Err(DeviceRejected::Denied) } else { Ok(()) }
    }

    /// What a device hears while there is no grant.
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
