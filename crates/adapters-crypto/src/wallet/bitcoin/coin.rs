//! What distinguishes the coins that share Bitcoin's addresses and signed messages: data, no code.
//!
//! Sources of the table: the chain parameters and the message constant of each coin's node.

use std::collections::BTreeMap;

use bech32::Hrp;

/// The longest HRP that an operator may give; the longest in use have five characters.
const HRP_LIMIT: usize = 20;

/// The longest message magic that an operator may give.
const MAGIC_LIMIT: usize = 80;

/// The longest name, in the challenge and elsewhere.
const NAME_LIMIT: usize = 40;

/// All that an operator can say of a coin.
const KEYS: [&str; 9] = ["name", "chain", "magic", "p2pkh", "p2sh", "legacy_p2sh", "hrp", "bip322", "cli"];

/// A coin whose holders sign messages as Bitcoin's do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coin {
    /// The challenge's kind, for example `Bitcoin`.
    name: String,
    /// By CAIP-2.
    chain: String,
    /// What stands before every signed message, without the byte of its length.
    magic: String,
    /// Versions of base58 addresses of a key. The first is the canonical one. Never empty.
    p2pkh: Vec<u8>,
    /// Versions of base58 addresses of a script. The first is the canonical one.
    p2sh: Vec<u8>,
    /// Versions of addresses of a script that count only when the chain is named, because another coin uses them today.
    legacy_p2sh: Vec<u8>,
    /// Where segwit addresses exist.
    hrp: Option<Hrp>,
    /// Whether wallets sign by BIP-322.
    bip322: bool,
    /// The command that speaks to the coin's node.
    cli: String,
}

/// Why a text describes no coin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoinRejected {
    /// Something stands alone.
    #[error("`{0}` is not of the form key=value")]
    NotAPair(String),
    /// A text in quotation marks does not end, or goes on behind them.
    #[error("the value of `{0}` must be closed by a quotation mark and followed by a space")]
    Unclosed(&'static str),
    /// Nobody knows such an escape.
    #[error(
        "the value of `{0}` has a backslash before something else than n, a backslash or a quotation mark"
    )]
    UnknownEscape(&'static str),
    /// Nobody knows such a key.
    #[error(
        "there is no key `{0}`; the keys are name, chain, magic, p2pkh, p2sh, legacy_p2sh, hrp, bip322 and cli"
    )]
    UnknownKey(String),
    /// Only one of two values can hold.
    #[error("`{0}` is said twice")]
    Repeated(&'static str),
    /// A coin cannot do without it.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value is out of its range.
    #[error("`{key}` must be {wanted}, not `{given}`")]
    Wrong {
        /// The key.
        key: &'static str,
        /// What would do.
        wanted: &'static str,
        /// What was said.
        given: String,
    },
    /// An address would mean two things.
    #[error("the version {0} is said twice")]
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

    /// Litecoin. Its scripts' addresses once looked like Bitcoin's.
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

    /// Reads a coin as an operator describes it: `key=value` with spaces between, in any order, each key once.
    ///
    /// A value with spaces stands in quotation marks, in which `\n`, `\\` and `\"` are understood. `name`, `chain`, `magic` and
    /// `p2pkh` must be there. `p2pkh`, `p2sh` and `legacy_p2sh` are versions of base58 addresses, in decimal, several with
    /// commas between and the canonical one first. `hrp` is for segwit addresses. `bip322` is `yes` or `no`, which it is when
    /// nothing is said. `cli` is the command that speaks to the node; it follows from the name when it is not said.
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
                "1 to 40 letters, digits and spaces, with no space at its ends",
                name,
                is_name,
            )?,
            chain: checked(
                "chain",
                "a chain by CAIP-2, such as bip122:000000000062b72c5e2ceb45fbc8587e",
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

    /// The name, which is the challenge's kind.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Would people take this name for the coin's? Case and spaces do not tell two names apart.
    pub fn is_named_like(&self, name: &str) -> bool {
        let letters = |name: &str| name.replace(' ', "").to_lowercase();
        letters(&self.name) == letters(name)
    }

    /// Do the segwit addresses of both look alike?
    pub fn shares_hrp_with(&self, other: &Self) -> bool {
        self.hrp.is_some() && self.hrp == other.hrp
    }

    /// The chain by CAIP-2.
    pub fn chain(&self) -> &str {
        &self.chain
    }

    /// The reference of the chain, which the challenge gives as its chain ID.
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
        // Without a version of today's there would be no canonical form of a legacy address.
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

/// Reads up to the closing quotation mark; gives the value and what follows.
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
    let read =
        |number: &str| number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?;
    given.split(',').map(read).collect::<Option<Vec<u8>>>().ok_or(CoinRejected::Wrong {
        key,
        wanted: "a number from 0 to 255, or several with commas between",
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
