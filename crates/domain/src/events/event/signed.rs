//! What an operator signed at the desk: the proof that a change was wanted.

use std::fmt::Write as _;

use crate::id::GrantId;
use crate::wallet::{AccountKind, WalletAccount};

use super::details::quoted;

/// One operator's signature under a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSignature {
    /// The wallet that signed.
    pub account: WalletAccount,
    /// The exact text.
    pub text: String,
    /// The signature, as it was presented.
    pub signature: String,
}

/// A change with the signatures of those who wanted it, one or two: an object of JSON, as text.
#[derive(Clone, Debug)]
pub struct Signed {
    json: String,
    /// Known until it is stored.
    signers: Vec<WalletAccount>,
    /// The same.
    second: Option<SecondSignature>,
}

/// The second signature of a proposal that is being carried out.
///
/// A store that writes an event with it also marks the proposal as done, in the commit of the act, and
/// refuses the act if the proposal is no longer this signature's. So it is carried out once, however long a
/// server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondSignature {
    /// The proposal.
    pub proposal: GrantId,
    /// The signature, as it was presented.
    pub signature: String,
}

/// Two are the same if they are stored as the same.
impl PartialEq for Signed {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl Eq for Signed {}

impl Signed {
    /// Puts the signatures under a change.
    pub fn of(change: GrantId, signatures: &[ChangeSignature]) -> Self {
        let mut json = format!("{{\"change\":\"{change}\",\"signatures\":[");
        for (place, signed) in signatures.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let kind = match signed.account.kind().map(AccountKind::name) {
                Some(kind) => format!("\"kind\":\"{kind}\","),
                None => String::new(),
            };
            // Writing to a `String` cannot fail.
            let _ = write!(
                json,
                "{comma}{{\"wallet\":{},{kind}\"text\":{},\"signature\":{}}}",
                quoted(&signed.account.caip10()),
                quoted(&signed.text),
                quoted(&signed.signature),
            );
        }
        json.push_str("]}");
        let second = match signatures {
            [_, second] => Some(SecondSignature { proposal: change, signature: second.signature.clone() }),
            _ => None,
        };
        let signers = signatures.iter().map(|signed| signed.account.clone()).collect();
        Self { json, signers, second }
    }

    /// Takes a text from storage as it is.
    pub const fn from_stored(text: String) -> Self {
        Self { json: text, signers: Vec::new(), second: None }
    }

    /// The object.
    pub fn as_str(&self) -> &str {
        &self.json
    }

    /// The wallets that signed. What is read from storage has none.
    ///
    /// A store that writes an event with them refuses the act if one of them is a suspended operator's.
    pub fn signers(&self) -> &[WalletAccount] {
        &self.signers
    }

    /// The second signature, if this is made of two. What is read from storage has none.
    pub const fn second(&self) -> Option<&SecondSignature> {
        self.second.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_an_object_that_says_who_signed_what() {
        let account = WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0xab".to_owned(),
        };
        let signed = ChangeSignature { account, text: "a\n\"b\"".to_owned(), signature: "0x1".to_owned() };
        let change = GrantId::at(time::OffsetDateTime::UNIX_EPOCH, [1; 10]);
        let both = Signed::of(change, &[signed.clone(), signed]);
        let read: serde_json::Value = serde_json::from_str(both.as_str()).unwrap();
        let one = serde_json::json!({ "wallet": "eip155:1:0xab", "kind": "key", "text": "a\n\"b\"", "signature": "0x1" });
        assert_eq!(read, serde_json::json!({ "change": change.to_string(), "signatures": [one, one] }));
    }
}
