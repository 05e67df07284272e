//! The thumbprint of a public key, which serves as its name (RFC 7638).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The SHA-256 thumbprint of the key that a token is bound to (RFC 9449).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyThumbprint([u8; 32]);

impl KeyThumbprint {
    /// Parses base64url without padding.
    pub fn parse(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Wraps a thumbprint that was computed or comes from storage.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for KeyThumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for KeyThumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyThumbprint({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbprint_is_read_as_it_is_written() {
        let text = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs";
        assert_eq!(KeyThumbprint::parse(text).unwrap().to_string(), text);
        for wrong in ["", "NzbLsXh8", "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs=", &"é".repeat(21)] {
            assert_eq!(KeyThumbprint::parse(wrong), None, "{wrong}");
        }
        // The same bytes, but with unused bits set at the end.
        assert_eq!(KeyThumbprint::parse("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xt"), None);
    }
}
