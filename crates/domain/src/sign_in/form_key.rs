//! The secret in a form on one of our pages (ADR 0032): a MAC over the secret in the browser's cookie and
//! over what the form does, AES-CMAC (RFC 4493) with 256-bit keys. No other site can know it, and the server stores none.

use std::fmt;

use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cmac::{Cmac, KeyInit, Mac};
use subtle::ConstantTimeEq;

/// The MAC key for forms. All replicas have the same key, so a page from one works at the others.
#[derive(Clone)]
pub struct FormKey(Cmac<Aes256>);

impl FormKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Cmac::new(&bytes.into()))
    }

    /// Starts the secret of a form, for the browser whose cookie has this secret.
    pub fn form(&self, binding: &str) -> FormSecret {
        FormSecret(self.0.clone()).that_says(binding)
    }
}

impl fmt::Debug for FormKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormKey(..)")
    }
}

/// The secret of a form. It is built from what the form does, part by part: first its name, then everything
/// that it names.
#[derive(Clone)]
pub struct FormSecret(Cmac<Aes256>);

impl FormSecret {
    /// Adds a part. Its length is hashed first, so that no byte can move from one part to the next.
    #[must_use]
    pub fn that_says(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.0.update(part);
        self
    }

    /// The text that goes into the form.
    pub fn text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.finalize().into_bytes())
    }

    /// Is this the secret that was presented?
    pub fn is(self, presented: &str) -> bool {
        self.text().as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for FormSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(key: [u8; 32], parts: &[String]) -> FormSecret {
        parts[1..].iter().fold(FormKey::new(key).form(&parts[0]), FormSecret::that_says)
    }

    proptest! {
        /// F-02: moving a byte from one part to another, or to another session, gives another secret.
        #[test]
        fn f_02_a_secret_is_good_for_its_own_parts_and_no_others(
            parts in proptest::collection::vec("[a-c]{0,3}", 1..4),
            other in proptest::collection::vec("[a-c]{0,3}", 1..4),
        ) {
            let key = [7; 32];
            let secret = form(key, &parts).text();
            prop_assert!(form(key, &parts).is(&secret));
            prop_assert_eq!(form(key, &other).is(&secret), parts == other);
            prop_assert!(!form([8; 32], &parts).is(&secret));
            prop_assert!(!form(key, &parts).is(&secret[1..]));
            prop_assert!(!form(key, &parts).is(""));
        }
    }
}
