//! New secrets, for when the page that shows them is loaded again. They wait in the session, hidden behind all that the browser
//! sent: who has only its cookies, or reads the signature in the record, lacks the secret of the form and cannot show them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sent::Sent;

/// A new secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SecretView {
    pub(super) name: String,
    pub(super) value: String,
}

impl SecretView {
    pub(super) fn of(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value }
    }
}

/// What a browser sent to sign a text: the secret of the form, the text and the signature.
pub(super) struct Signed<'a>([&'a str; 3]);

impl<'a> Signed<'a> {
    pub(super) fn of(sent: &'a Sent) -> Self {
        Self(["form", "challenge", "signature"].map(|name| sent.one(name).unwrap_or_default()))
    }

    /// Hides secrets. A text works once, so nothing else is ever hidden with the same.
    pub(super) fn hide(&self, secrets: &[SecretView]) -> Option<String> {
        let plain = serde_json::to_vec(secrets).ok().filter(|_| !secrets.is_empty())?;
        Some(URL_SAFE_NO_PAD.encode(self.mask(plain)))
    }

    /// Shows them again.
    pub(super) fn reveal(&self, hidden: &str) -> Option<Vec<SecretView>> {
        serde_json::from_slice(&self.mask(URL_SAFE_NO_PAD.decode(hidden).ok()?)).ok()
    }

    fn mask(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let mut all = Sha256::new_with_prefix(b"countersign desk secrets 1\0");
        for part in self.0 {
            all.update((part.len() as u64).to_be_bytes());
            all.update(part);
        }
        for (number, block) in (0_u32..).zip(bytes.chunks_mut(32)) {
            let pad = all.clone().chain_update(number.to_be_bytes()).finalize();
            block.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_shown_again_to_who_sends_the_same_and_to_no_one_else() {
        let secrets: Vec<SecretView> =
            ["a", "b"].map(|name| SecretView::of(name, name.repeat(50))).into_iter().collect();
        let sent = Signed(["form", "text", "signature"]);
        let hidden = sent.hide(&secrets).unwrap();
        assert!(sent.reveal(&hidden) == Some(secrets));
        let others = [
            ["", "text", "signature"],
            ["form", "", "signature"],
            ["form", "text", ""],
            ["formt", "ext", "signature"],
            ["form", "texts", "ignature"],
        ];
        for other in others {
            assert!(Signed(other).reveal(&hidden).is_none(), "{other:?}");
        }
        assert!(sent.reveal("***").is_none());
        assert!(sent.hide(&[]).is_none());
    }
}
