//! The byte strings that wallets make from one text and sign. The list is closed; each is built from the text
//! that we issued (B-041).
//!
//! No byte string has two meanings. A text is UTF-8 and never begins with the `0xff` of the others. Version 1
//! differs from version 0 in the next byte. The short header cannot be read as a full one: where a full one
//! has its format (0, 1 or 2), it has a character of our text, which is printable or a line feed. None of
//! them can be a transaction: no transaction begins with `0xff`, and none is text.

use std::borrow::Cow;

/// The beginning of every off-chain message.
const SIGNING_DOMAIN: &[u8; 16] = b"\xffsolana offchain";

/// The length of the application domain in a full version 0 header.
const APPLICATION_DOMAIN_LENGTH: usize = 32;

/// The longest text that may have format 0 or 1 in version 0.
const LONGEST_OF_SPECIFICATION: usize = 1_232;

/// The same for the short header, which includes its own 20 bytes in the limit.
const LONGEST_OF_SHORT_HEADER: usize = 1_212;

/// A way in which some wallet turns a text into the bytes that it signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Only the text: wallets whose key is in software.
    Raw,
    /// Version 0 with our host, in ASCII, as application domain: Phantom with a Ledger.
    LedgerWithHost,
    /// Version 0 without an application domain, as Ledger's kit writes it when it gets none.
    Ledger,
    /// Version 0 without an application domain, as specified and as `@solana/kit` writes it. It differs from
    /// Ledger's: in the specification, a text with line feeds does not have the simplest format.
    Specification,
    /// Version 1 (sRFC 3), with the holder as the only signer.
    VersionOne,
    /// Version 0 with the short header of the Rust crate `solana-offchain-message`, which has neither
    /// application domain nor signer. `solana sign-offchain-message` signs it. The text names our host and
    /// the account, and the signature is checked with the account's key, so nothing that the full header
    /// would protect is missing.
    CommandLine,
}

impl Form {
    /// All forms, the most common first.
    pub(super) const ALL: [Self; 6] = [
        Self::Raw,
        Self::LedgerWithHost,
        Self::VersionOne,
        Self::Ledger,
        Self::Specification,
        Self::CommandLine,
    ];

    /// The bytes that a wallet of this form signs, if it can sign the text at all.
    pub(super) fn bytes<'a>(self, text: &'a str, signer: &[u8; 32]) -> Option<Cow<'a, [u8]>> {
        const NO_DOMAIN: [u8; APPLICATION_DOMAIN_LENGTH] = [0; APPLICATION_DOMAIN_LENGTH];
        let bytes = match self {
            Self::Raw => return Some(Cow::Borrowed(text.as_bytes())),
            Self::LedgerWithHost => version_zero(&host(text)?, ledgers_format(text), signer, text)?,
            Self::Ledger => version_zero(&NO_DOMAIN, ledgers_format(text), signer, text)?,
            Self::Specification => {
                version_zero(&NO_DOMAIN, format(text, LONGEST_OF_SPECIFICATION), signer, text)?
            }
            Self::VersionOne => version_one(signer, text)?,
            Self::CommandLine => short_version_zero(format(text, LONGEST_OF_SHORT_HEADER), text)?,
        };
        Some(Cow::Owned(bytes))
    }
}

/// Version 0 as specified: application domain, format, one signer, length, text.
pub(super) fn version_zero(
    application_domain: &[u8; APPLICATION_DOMAIN_LENGTH],
    format: u8,
    signer: &[u8; 32],
    text: &str,
) -> Option<Vec<u8>> {
    let length = length(text)?;
    Some(
        [SIGNING_DOMAIN, &[0][..], application_domain, &[format, 1], signer, &length, text.as_bytes()]
            .concat(),
    )
}

/// Version 1: one signer, text.
fn version_one(signer: &[u8; 32], text: &str) -> Option<Vec<u8>> {
    (!text.is_empty()).then(|| [SIGNING_DOMAIN, &[1, 1][..], signer, text.as_bytes()].concat())
}

/// Version 0 as in the Rust crate: format, length, text.
fn short_version_zero(format: u8, text: &str) -> Option<Vec<u8>> {
    let length = length(text)?;
    Some([SIGNING_DOMAIN, &[0, format][..], &length, text.as_bytes()].concat())
}

/// The length of a text in bytes, little-endian. Empty texts are not allowed.
fn length(text: &str) -> Option<[u8; 2]> {
    let length = u16::try_from(text.len()).ok()?;
    (length > 0).then(|| length.to_le_bytes())
}

/// The host in the text's first line, padded with zeros to an application domain. The text is ours, so the
/// host is too. It is written as in the text, with the port if there is one. A host that is too long gives no
/// domain, because cut off it could equal that of another host.
fn host(text: &str) -> Option<[u8; APPLICATION_DOMAIN_LENGTH]> {
    let (host, _) = text.split_once(" wants you to sign in with your ")?;
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut domain = [0; APPLICATION_DOMAIN_LENGTH];
    domain.get_mut(..host.len())?.copy_from_slice(host.as_bytes());
    Some(domain)
}

/// 0 for a short text of printable ASCII, 1 for another short text, 2 for a long one.
fn format(text: &str, longest: usize) -> u8 {
    if text.len() > longest { 2 } else { u8::from(!text.bytes().all(is_printable)) }
}

/// For Ledger a line feed is printable, and no text is long.
fn ledgers_format(text: &str) -> u8 {
    u8::from(!text.bytes().all(|byte| byte == b'\n' || is_printable(byte)))
}

fn is_printable(byte: u8) -> bool {
    (0x20..=0x7e).contains(&byte)
}
