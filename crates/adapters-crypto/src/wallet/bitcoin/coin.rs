//! The differences between the coins that share Bitcoin's addresses and signed messages, as data.
//!
//! The table comes from the chain parameters and the message constant of each coin's node.

use std::collections::BTreeMap;

use bech32::Hrp;
use countersign_domain::number::whole;

/// The longest HRP that an operator may set. The longest in use have five characters.
const HRP_LIMIT: usize = 20;

/// The longest message magic that an operator may set.
const MAGIC_LIMIT: usize = 80;

/// The longest name, in the challenge and elsewhere.
const NAME_LIMIT: usize = 40;

/// The keys with which an operator describes a coin.
const KEYS: [&str; 9] = ["name", "chain", "magic", "p2pkh", "p2sh", "legacy_p2sh", "hrp", "bip322", "cli"];

/// A coin whose holders sign messages as Bitcoin's do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coin {
    /// The kind in the challenge, for example `Bitcoin`.
    name: String,
    /// The CAIP-2 chain id.
    chain: String,
    /// The text before every signed message, without its length byte.
    magic: String,
    /// Versions of base58 addresses of keys. The first is the canonical one. Never empty.
    p2pkh: Vec<u8>,
    /// Versions of base58 addresses of scripts. The first is the canonical one.
    p2sh: Vec<u8>,
    /// Versions of script addresses that count only if the chain is named, because another coin uses them
    /// today.
    legacy_p2sh: Vec<u8>,
    /// The HRP of segwit addresses, if the coin has them.
    hrp: Option<Hrp>,
    /// True if wallets sign by BIP-322.
    bip322: bool,
    /// The command-line client of the coin's node.
    cli: String,
}

/// Why a text does not describe a coin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoinRejected {
    /// A part is not a key with a value.
    #[error("`{0}` is not of the form key=value")]
    NotAPair(String),
    /// A quoted text does not end, or something follows it directly.
    #[error("the value of `{0}` must be closed by a quotation mark and followed by a space")]
    Unclosed(&'static str),
    /// The escape is unknown.
    #[error("the value of `{0}` has a backslash that is not followed by n, a backslash or a quotation mark")]
    UnknownEscape(&'static str),
    /// The key is unknown.
    #[error(
        "there is no key `{0}`; the keys are name, chain, magic, p2pkh, p2sh, legacy_p2sh, hrp, bip322 and cli"
    )]
    UnknownKey(String),
    /// The same key is given twice.
    #[error("`{0}` is given twice")]
    Repeated(&'static str),
    /// A required key is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value is out of range.
    #[error("`{key}` must be {wanted}, not `{given}`")]
    Wrong {
        /// The key.
        key: &'static str,
        /// The values that are accepted.
        wanted: &'static str,
        /// The value that was given.
        given: String,
    },
    /// A version is given twice, so an address would have two meanings.
    #[error("the version {0} is given twice")]
    VersionRepeated(u8),
}

impl Coin {
    /// The coins of this build.
    pub fn standard() -> [Self; 5] {
        [Self::bitcoin(), Self::litecoin(), Self::dogecoin(), Self::ravencoin(), Self::evrmore()]
    }

    /// Bitcoin.
    pub fn bitcoin() -> Self {
        Self {
            name: "Bitcoin".to_owned(),
            chain: "bip122:000000000019d6689c085ae165831e93".to_owned(),
            magic: "Bitcoin Signed Message:\n".to_owned(),
            p2pkh: vec![0x00],
            p2sh: vec![0x05],
            legacy_p2sh: Vec::new(),
            hrp: Some(Hrp::parse_unchecked("bc")),
            bip322: true,
            cli: "bitcoin-cli".to_owned(),
        }
    }

    /// Litecoin. Its script addresses once looked like Bitcoin's.
    pub fn litecoin() -> Self {
        Self {
            name: "Litecoin".to_owned(),
            chain: "bip122:12a765e31ffd4059bada1e25190f6e98".to_owned(),
            magic: "Litecoin Signed Message:\n".to_owned(),
            p2pkh: vec![0x30],
            p2sh: vec![0x32],
            legacy_p2sh: vec![0x05],
            hrp: Some(Hrp::parse_unchecked("ltc")),
            bip322: false,
            cli: "litecoin-cli".to_owned(),
        }
    }

    /// Dogecoin.
    pub fn dogecoin() -> Self {
        Self {
            name: "Dogecoin".to_owned(),
            chain: "bip122:1a91e3dace36e2be3bf030a65679fe82".to_owned(),
            magic: "Dogecoin Signed Message:\n".to_owned(),
            p2pkh: vec![0x1e],
            p2sh: vec![0x16],
            legacy_p2sh: Vec::new(),
            hrp: None,
            bip322: false,
            cli: "dogecoin-cli".to_owned(),
        }
    }

    /// Ravencoin, whose messages say `Raven`.
    pub fn ravencoin() -> Self {
        Self {
            name: "Ravencoin".to_owned(),
            chain: "bip122:0000006b444bc2f2ffe627be9d9e7e7a".to_owned(),
            magic: "Raven Signed Message:\n".to_owned(),
            p2pkh: vec![0x3c],
            p2sh: vec![0x7a],
            legacy_p2sh: Vec::new(),
            hrp: None,
            bip322: false,
            cli: "raven-cli".to_owned(),
        }
    }

    /// Evrmore (B-036).
    pub fn evrmore() -> Self {
        Self {
            name: "Evrmore".to_owned(),
            chain: "bip122:0000007b11d0481b2420a7c656ef7677".to_owned(),
            magic: "Evrmore Signed Message:\n".to_owned(),
            p2pkh: vec![0x21],
            p2sh: vec![0x5c],
            legacy_p2sh: Vec::new(),
            hrp: None,
            bip322: false,
            cli: "evrmore-cli".to_owned(),
        }
    }

    /// Reads a coin from an operator's description: `key=value` pairs separated by spaces, in any order, each
    /// key once.
    ///
    /// A value with spaces is put in quotation marks, in which `\n`, `\\` and `\"` are escapes. `name`,
    /// `chain`, `magic` and `p2pkh` are required. `p2pkh`, `p2sh` and `legacy_p2sh` are versions of base58
    /// addresses in decimal, separated by commas, with the canonical one first. `hrp` is for segwit
    /// addresses. `bip322` is `yes` or `no` (the default). `cli` is the command-line client of the node; by
    /// default it is derived from the name.
    pub fn parse(text: &str) -> Result<Self, CoinRejected> {
        let mut said = pairs(text)?;
        let mut required = |key| said.remove(key).ok_or(CoinRejected::Missing(key));
        let name = required("name")?;
        let chain = required("chain")?;
        let magic = required("magic")?;
        let p2pkh = required("p2pkh")?;
        let mut optional = |key| said.remove(key);
        let cli = optional("cli").unwrap_or_else(|| name.replace(' ', "").to_lowercase() + "-cli");
        let coin = Self {
            name: checked(
                "name",
                "1 to 40 letters, digits and spaces, with no space at either end",
                name,
                is_name,
            )?,
            chain: checked(
                "chain",
                "a CAIP-2 chain id, such as bip122:000000000062b72c5e2ceb45fbc8587e",
                chain,
                is_chain,
            )?,
            magic: checked("magic", "1 to 80 printable ASCII characters and line ends", magic, is_magic)?,
            p2pkh: versions("p2pkh", Some(p2pkh))?,
            p2sh: versions("p2sh", optional("p2sh"))?,
            legacy_p2sh: versions("legacy_p2sh", optional("legacy_p2sh"))?,
            hrp: optional("hrp").map(hrp).transpose()?,
            bip322: yes("bip322", optional("bip322"))?,
            cli: checked("cli", "1 to 44 lower-case letters, digits and hyphens", cli, is_command)?,
        };
        coin.with_distinct_versions()
    }

    /// The name, which is also the kind in the challenge.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if people would take this name for the coin's. Case and spaces do not make a difference.
    pub fn is_named_like(&self, name: &str) -> bool {
        let letters = |name: &str| name.replace(' ', "").to_lowercase();
        letters(&self.name) == letters(name)
    }

    /// True if the segwit addresses of both coins look alike.
    pub fn shares_hrp_with(&self, other: &Self) -> bool {
        self.hrp.is_some() && self.hrp == other.hrp
    }

    /// The CAIP-2 chain id.
    pub fn chain(&self) -> &str {
        &self.chain
    }

    /// The reference of the chain, which is the chain ID in the challenge.
    pub(super) fn chain_reference(&self) -> &str {
        self.chain.split_once(':').map_or("", |(_, reference)| reference)
    }

    pub(super) fn magic(&self) -> &str {
        &self.magic
    }

    pub(super) fn p2pkh_versions(&self) -> &[u8] {
        &self.p2pkh
    }

    pub(super) fn p2sh_versions(&self) -> &[u8] {
        &self.p2sh
    }

    pub(super) fn legacy_p2sh_versions(&self) -> &[u8] {
        &self.legacy_p2sh
    }

    pub(super) fn hrp(&self) -> Option<Hrp> {
        self.hrp
    }

    pub(super) fn signs_by_bip322(&self) -> bool {
        self.bip322
    }

    pub(super) fn cli(&self) -> &str {
        &self.cli
    }

    fn with_distinct_versions(self) -> Result<Self, CoinRejected> {
        let mut seen = [false; 256];
        for version in self.p2pkh.iter().chain(&self.p2sh).chain(&self.legacy_p2sh) {
            if std::mem::replace(&mut seen[usize::from(*version)], true) {
                return Err(CoinRejected::VersionRepeated(*version));
            }
        }
        // Without a current version, a legacy address would have no canonical form.
        if self.p2sh.is_empty() && !self.legacy_p2sh.is_empty() {
            return Err(CoinRejected::Missing("p2sh"));
        }
        Ok(self)
    }
}

fn pairs(text: &str) -> Result<BTreeMap<&'static str, String>, CoinRejected> {
    let mut said = BTreeMap::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let Some((key, after)) =
            word.split_once('=').and_then(|(key, _)| Some((key, rest.get(key.len() + 1..)?)))
        else {
            return Err(CoinRejected::NotAPair(word.to_owned()));
        };
        let Some(key) = KEYS.into_iter().find(|known| *known == key) else {
            return Err(CoinRejected::UnknownKey(key.to_owned()));
        };
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted_value(key, quoted)?,
            None => {
                let (value, after) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                (value.to_owned(), after)
            }
        };
        if said.insert(key, value).is_some() {
            return Err(CoinRejected::Repeated(key));
        }
        rest = after.trim_start();
    }
    Ok(said)
}

/// Reads up to the closing quotation mark. Returns the value and the rest.
fn quoted_value<'a>(key: &'static str, quoted: &'a str) -> Result<(String, &'a str), CoinRejected> {
    let mut value = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next() {
            Some('"') => break,
            Some('\\') => match characters.next() {
                Some('n') => value.push('\n'),
                Some(itself @ ('\\' | '"')) => value.push(itself),
                _ => return Err(CoinRejected::UnknownEscape(key)),
            },
            Some(character) => value.push(character),
            None => return Err(CoinRejected::Unclosed(key)),
        }
    }
    let after = characters.as_str();
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return Err(CoinRejected::Unclosed(key));
    }
    Ok((value, after))
}

fn checked(
    key: &'static str,
    wanted: &'static str,
    given: String,
    is_right: impl Fn(&str) -> bool,
) -> Result<String, CoinRejected> {
    if is_right(&given) { Ok(given) } else { Err(CoinRejected::Wrong { key, wanted, given }) }
}

fn is_name(text: &str) -> bool {
    (1..=NAME_LIMIT).contains(&text.len())
        && text.trim() == text
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ')
}

fn is_chain(text: &str) -> bool {
    text.split_once(':').is_some_and(|(namespace, reference)| {
        (3..=8).contains(&namespace.len())
            && namespace.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && (1..=32).contains(&reference.len())
            && reference.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

fn is_magic(text: &str) -> bool {
    (1..=MAGIC_LIMIT).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
}

fn is_command(text: &str) -> bool {
    (1..=NAME_LIMIT + "-cli".len()).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn versions(key: &'static str, given: Option<String>) -> Result<Vec<u8>, CoinRejected> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    given.split(',').map(whole).collect::<Option<Vec<u8>>>().ok_or(CoinRejected::Wrong {
        key,
        wanted: "a number from 0 to 255, or several separated by commas",
        given,
    })
}

fn hrp(given: String) -> Result<Hrp, CoinRejected> {
    let is_plain =
        given.len() <= HRP_LIMIT && given.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    match Hrp::parse(&given) {
        Ok(hrp) if is_plain => Ok(hrp),
        _ => Err(CoinRejected::Wrong { key: "hrp", wanted: "1 to 20 lower-case letters and digits", given }),
    }
}

fn yes(key: &'static str, given: Option<String>) -> Result<bool, CoinRejected> {
    match given.as_deref() {
        None | Some("no") => Ok(false),
        Some("yes") => Ok(true),
        Some(other) => Err(CoinRejected::Wrong { key, wanted: "yes or no", given: other.to_owned() }),
    }
}

#[cfg(test)]
mod tests;
