//! Wallet accounts, and what a wallet returns.
//!
//! Which families exist, how they write addresses and how they verify signatures is up to the adapters behind
//! `countersign_ports::WalletVerifier`. This file holds the values that all of them share.

use std::fmt;

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};

/// An account in the spelling of its family.
#[derive(Clone, PartialEq, Eq)]
pub struct WalletAccount {
    /// Two accounts with the same family and address are the same wallet. The family is the CAIP-2 namespace
    /// if one key is one account on every chain (`eip155`), and the whole chain id otherwise.
    pub family: String,
    /// The chain's CAIP-2 id, for example `eip155:1`.
    pub chain: String,
    /// The canonical address. Two spellings of one account have one canonical form.
    pub address: String,
}

/// What is behind an address that can belong to a key and to a contract at the same time. Both can have the
/// same CAIP-10 name, but they are two accounts (F-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountKind {
    /// A key signs. It is one account on every chain.
    Key,
    /// A contract on the account's chain decides whether a signature is valid.
    Contract,
}

impl AccountKind {
    /// The word for it in requests, responses and texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Contract => "contract",
        }
    }

    /// Parses the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Key, Self::Contract].into_iter().find(|kind| kind.name() == text)
    }
}

/// The family of Ethereum keys. The family of a contract is its chain, which starts with this word.
const ETHEREUM: &str = "eip155";

impl WalletAccount {
    /// Are these the same wallet? A key is one account on every chain, so its chain does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.family, &self.address) == (&other.family, &other.address)
    }

    /// What is behind the address, for families that know both kinds. `None` for all others, where it is
    /// always a key. The family determines it, in storage too: a key's account has the family of all EVM
    /// chains, a contract's account has its chain.
    pub fn kind(&self) -> Option<AccountKind> {
        let rest = self.family.strip_prefix(ETHEREUM)?;
        match rest.as_bytes().first() {
            None => Some(AccountKind::Key),
            Some(b':') => Some(AccountKind::Contract),
            Some(_) => None,
        }
    }

    /// The account by CAIP-10.
    pub fn caip10(&self) -> String {
        format!("{}:{}", self.chain, self.address)
    }

    /// The address for logs: enough to recognize it, too little to trace it.
    pub fn shortened(&self) -> String {
        shortened(&self.address)
    }
}

/// An address for logs, as of [`WalletAccount::shortened`].
pub fn shortened(address: &str) -> String {
    let head: String = address.chars().take(6).collect();
    let tail: String = address.chars().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{head}…{tail}")
}

impl fmt::Debug for WalletAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WalletAccount({}:{})", self.chain, self.shortened())
    }
}

/// The name that people give for an account: its address, perhaps with the chain, either separately or in
/// front of it by CAIP-10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountName<'a> {
    /// The address as written.
    pub address: &'a str,
    /// The chain's CAIP-2 id, if one was named.
    pub chain: Option<&'a str>,
    /// Whether it is a key or a contract, if that was named.
    pub kind: Option<AccountKind>,
}

/// The chain in front of the address differs from the chain given separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wallet_address names another chain than chain does")]
pub struct ChainsDiffer;

impl<'a> AccountName<'a> {
    /// Parses `address`, or `namespace:reference:address` (CAIP-10), and the chain given separately. No
    /// family has addresses with two colons.
    pub fn read(text: &'a str, chain: Option<&'a str>) -> Result<Self, ChainsDiffer> {
        let Some((address, inner)) =
            text.match_indices(':').nth(1).map(|(position, _)| (&text[position + 1..], &text[..position]))
        else {
            return Ok(Self { address: text, chain, kind: None });
        };
        if chain.is_some_and(|chain| chain != inner) {
            return Err(ChainsDiffer);
        }
        Ok(Self { address, chain: Some(inner), kind: None })
    }

    /// The same account, of this kind.
    pub const fn of_kind(self, kind: Option<AccountKind>) -> Self {
        Self { kind, ..self }
    }
}

/// A claim that the holder of this account signed this text.
#[derive(Clone)]
pub struct WalletProof {
    /// The account that is said to have signed.
    pub account: WalletAccount,
    /// What kind of account it must be, if that was named; then nothing else is tried. Otherwise the
    /// signature shows it.
    pub kind: Option<AccountKind>,
    /// The exact text that we issued.
    pub text: String,
    /// The signature as received, not decoded.
    pub signature: String,
}

impl fmt::Debug for WalletProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalletProof").field("account", &self.account).finish_non_exhaustive()
    }
}

/// Decodes a signature of a known length. Its own length and alphabet decide the encoding, never trial and
/// error: hex with or without `0x`, or base64 or base64url with or without padding (P-06).
///
/// `None` for everything else: other lengths, mixed alphabets, spaces, unused bits at the end.
pub fn signature_bytes(text: &str, length: usize) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.len() == 2 * length {
        return hex::decode(digits).ok();
    }
    let unpadded = (length * 4).div_ceil(3);
    let padded = length.div_ceil(3) * 4;
    if text.len() != unpadded && text.len() != padded {
        return None;
    }
    let alphabet = if text.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
    let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&alphabet, padding).decode(text).ok()?;
    (bytes.len() == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_of_the_same_bytes_decodes_to_them() {
        let bytes = [0xfb; 65];
        let standard = base64::engine::general_purpose::STANDARD.encode(bytes);
        let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        let spellings = [
            hex::encode(bytes),
            format!("0x{}", hex::encode(bytes)),
            format!("0x{}", hex::encode_upper(bytes)),
            standard.clone(),
            standard.trim_end_matches('=').to_owned(),
            url_safe,
        ];
        for spelling in spellings {
            assert_eq!(signature_bytes(&spelling, 65), Some(bytes.to_vec()), "{spelling}");
        }
    }

    #[test]
    fn b_024_whatever_is_not_one_of_these_spellings_is_refused() {
        let hex_form = hex::encode([0xfb; 65]);
        let base64_form = base64::engine::general_purpose::STANDARD.encode([0xfb; 65]);
        let refused = [
            String::new(),
            format!("0X{hex_form}"),
            format!("0x0x{hex_form}"),
            format!("0x{}", &hex_form[1..]),
            format!(" {hex_form}"),
            format!("{hex_form}\n"),
            hex_form.replace('f', "ｆ"),
            base64_form.replacen('+', "-", 1),
            base64_form.replace("s=", "t="),
            "A".repeat(1 << 20),
        ];
        for text in refused {
            assert_eq!(signature_bytes(&text, 65), None, "{}", text.chars().take(80).collect::<String>());
        }
    }

    #[test]
    fn an_account_is_named_by_its_address_alone_or_with_its_chain() {
        let named = |address, chain| Ok(AccountName { address, chain, kind: None });
        assert_eq!(AccountName::read("0xA", None), named("0xA", None));
        assert_eq!(AccountName::read("0xA", Some("eip155:1")), named("0xA", Some("eip155:1")));
        assert_eq!(AccountName::read("eip155:1:0xA", None), named("0xA", Some("eip155:1")));
        assert_eq!(AccountName::read("eip155:1:0xA", Some("eip155:1")), named("0xA", Some("eip155:1")));
        assert_eq!(AccountName::read("eip155:1:0xA", Some("eip155:2")), Err(ChainsDiffer));
        assert_eq!(AccountName::read("one:two", None), named("one:two", None));
        assert_eq!(AccountName::read("::", None), named("", Some(":")));
        assert_eq!(AccountName::read("é:ü:ö:ß", None), named("ö:ß", Some("é:ü")));
    }

    #[test]
    fn f_15_the_family_says_whether_a_key_or_a_contract_stands_behind_an_address() {
        let kind = |family: &str| {
            let (family, chain) = (family.to_owned(), "eip155:1".to_owned());
            WalletAccount { family, chain, address: "0xA".to_owned() }.kind()
        };
        assert_eq!(kind("eip155"), Some(AccountKind::Key));
        assert_eq!(kind("eip155:1"), Some(AccountKind::Contract));
        for family in ["eip1559", "bip122:000000000019d6689c085ae165831e93", "cosmos:hub", "client", ""] {
            assert_eq!(kind(family), None, "{family}");
        }
        for kind in [AccountKind::Key, AccountKind::Contract] {
            assert_eq!(AccountKind::parse(kind.name()), Some(kind));
        }
        for text in ["", "Key", "contract ", "eoa"] {
            assert_eq!(AccountKind::parse(text), None);
        }
    }

    #[test]
    fn a_proof_never_prints_its_text_or_signature() {
        let account = WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0x1234567890abcdef1234567890abcdef12345678".to_owned(),
        };
        let proof = WalletProof {
            account,
            kind: None,
            text: "a text".to_owned(),
            signature: "a signature".to_owned(),
        };
        let shown = format!("{proof:?}");
        assert_eq!(shown, "WalletProof { account: WalletAccount(eip155:1:0x1234…5678), .. }");
    }
}
