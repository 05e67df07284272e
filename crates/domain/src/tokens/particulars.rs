//! Details that few grants have: resources, a key, a signature that the client gets to see.

use crate::id_token::SignedText;
use crate::key_thumbprint::KeyThumbprint;

/// The details that most grants lack, fixed when the person signs. Storage keeps them as one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Particulars {
    /// The resources that access tokens are for (RFC 8707). Empty means this server.
    pub resources: Vec<String>,
    /// The key that the code is bound to (RFC 9449 section 10).
    pub key: Option<KeyThumbprint>,
    /// What the wallet signed, if the client gets to see it.
    pub wallet_proof: Option<SignedText>,
    /// Did the client ask when the user signed in? A pairwise client gets to know it only then.
    pub asked_auth_time: bool,
}

impl Particulars {
    /// The text for storage; `None` if there is nothing to store. Every line is a word and its value, except
    /// the signed text, which takes the last lines.
    pub fn to_text(&self) -> Option<String> {
        let mut lines: Vec<String> = self.resources.iter().map(|uri| format!("resource {uri}")).collect();
        lines.extend(self.key.map(|key| format!("key {key}")));
        lines.extend(self.asked_auth_time.then(|| "asked auth_time".to_owned()));
        if let Some(SignedText { text, signature }) = &self.wallet_proof {
            lines.push(format!("signature {signature}"));
            lines.push(format!("text {text}"));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Parses the text from storage; `None` for a text that [`Self::to_text`] did not write.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        let mut this = Self::default();
        let mut signature = None;
        let mut rest = text.unwrap_or_default();
        while !rest.is_empty() {
            if let Some(text) = rest.strip_prefix("text ") {
                this.wallet_proof = Some(SignedText { text: text.to_owned(), signature: signature.take()? });
                break;
            }
            let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
            match line.split_once(' ')? {
                ("resource", uri) => this.resources.push(uri.to_owned()),
                ("key", key) => this.key = Some(KeyThumbprint::parse(key)?),
                ("asked", "auth_time") => this.asked_auth_time = true,
                ("signature", value) => signature = Some(value.to_owned()),
                _ => return None,
            }
            rest = below;
        }
        signature.is_none().then_some(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let proof =
            SignedText { text: "two\nlines\nkey of nothing\n".to_owned(), signature: "0xab".to_owned() };
        let resources = vec!["https://api.example/a".to_owned(), "urn:example:b".to_owned()];
        let key = Some(KeyThumbprint::from_bytes([7; 32]));
        let all = [
            Particulars::default(),
            Particulars { resources: resources.clone(), ..Particulars::default() },
            Particulars { key, ..Particulars::default() },
            Particulars { wallet_proof: Some(proof.clone()), ..Particulars::default() },
            Particulars { asked_auth_time: true, ..Particulars::default() },
            Particulars { resources, key, wallet_proof: Some(proof), asked_auth_time: true },
        ];
        for particulars in all {
            assert_eq!(Particulars::parse(particulars.to_text().as_deref()), Some(particulars));
        }
    }

    #[test]
    fn another_text_is_not_guessed_at() {
        for text in ["resource", "what is this", "signature 0xab", "text hello", "key short", "asked name"] {
            assert_eq!(Particulars::parse(Some(text)), None, "{text}");
        }
    }
}
