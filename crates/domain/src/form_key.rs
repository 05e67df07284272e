//! The secret of a form on one of our pages: a MAC that no other site can know, over the cookie of the browser that was shown the page
//! and over what the form does (ADR 0032). The server keeps none.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Keeps this use of the key apart from any other.
const LABEL: &[u8] = b"countersign page form, version 1\0";
/// How much of the MAC a form holds: 128 bits, which nobody hits by guessing at a server.
const MAC_BYTES: usize = 16;

/// The key of the MAC in forms. All replicas have the same, so that a page of one is good at the others.
#[derive(Clone, PartialEq, Eq)]
pub struct FormKey([u8; 32]);

impl FormKey {
    /// Takes a key that was derived for this and nothing else.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The secret of a form. `binding` is the secret of the browser's cookie; `says` is what the form does, its name first. Lengths keep
    /// the parts apart.
    pub fn secret(&self, binding: &str, says: &[&str]) -> String {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.update(LABEL);
        for part in [binding].iter().chain(says) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(&mac.finalize().into_bytes()[..MAC_BYTES])
    }

    /// Is this the secret of that form?
    pub fn admits(&self, binding: &str, says: &[&str], presented: &str) -> bool {
        self.secret(binding, says).as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for FormKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// F-02: whoever moves a byte from one part to another, or to another session, has no secret.
        #[test]
        fn f_02_a_secret_is_good_for_its_own_parts_and_no_others(
            parts in proptest::collection::vec("[a-c]{0,3}", 1..4),
            other in proptest::collection::vec("[a-c]{0,3}", 1..4),
        ) {
            let key = FormKey::new([7; 32]);
            let split = |parts: &[String]| -> (String, Vec<String>) { (parts[0].clone(), parts[1..].to_vec()) };
            let ((binding, says), (wrong, others)) = (split(&parts), split(&other));
            let says: Vec<&str> = says.iter().map(String::as_str).collect();
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let secret = key.secret(&binding, &says);
            prop_assert!(key.admits(&binding, &says, &secret));
            prop_assert_eq!(key.admits(&wrong, &others, &secret), parts == other);
            prop_assert!(!FormKey::new([8; 32]).admits(&binding, &says, &secret));
            prop_assert!(!key.admits(&binding, &says, &secret[1..]));
            prop_assert!(!key.admits(&binding, &says, ""));
        }
    }
}
