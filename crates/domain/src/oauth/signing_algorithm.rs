//! The algorithms that we sign tokens with (RFC 7518, RFC 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256, Sha512};

/// An algorithm that tokens are signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SigningAlgorithm {
    /// RSA with SHA-256: the algorithm that OpenID Connect requires every client to support.
    Rs256,
    /// ECDSA over P-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl SigningAlgorithm {
    /// All algorithms. The first is the default for ID tokens.
    pub const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Parses a registered name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The left half of the text's hash, as used in `at_hash` (OpenID Connect Core section 3.1.3.6). For
    /// Ed25519 the hash is SHA-512.
    pub fn half_hash(self, text: &str) -> String {
        match self {
            Self::Rs256 | Self::Es256 => URL_SAFE_NO_PAD.encode(&Sha256::digest(text)[..16]),
            Self::EdDsa => URL_SAFE_NO_PAD.encode(&Sha512::digest(text)[..32]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_is_read_by_its_name_and_by_no_other() {
        for algorithm in SigningAlgorithm::ALL {
            assert_eq!(SigningAlgorithm::parse(algorithm.name()), Some(algorithm));
        }
        for name in ["", "none", "HS256", "rs256", "RS256 ", "ES256K"] {
            assert_eq!(SigningAlgorithm::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_100_the_half_hash_is_that_of_the_standard() {
        // The example of OpenID Connect Core, appendix A.3.
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
        assert_eq!(SigningAlgorithm::Rs256.half_hash(token), "77QmUPtjPfzWtF2AnpK9RQ");
        assert_eq!(SigningAlgorithm::Es256.half_hash(token), "77QmUPtjPfzWtF2AnpK9RQ");
        assert_eq!(SigningAlgorithm::EdDsa.half_hash(token).len(), 43);
    }
}
