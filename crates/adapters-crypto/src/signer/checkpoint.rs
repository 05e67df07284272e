//! Checkpoints as JSON Web Signatures: their payload, whose last member is a MAC over everything else in header and
//! payload, and their signature, of which only one form is ours.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::{Checkpoint, CheckpointClaims, Digest256, RecordKey};
use countersign_ports::{CheckpointProof, CheckpointRead};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use super::header::TokenType;
use super::{ACCESS_ALGORITHM, ES256_SIGNATURE_LENGTH, within_length};

/// What a checkpoint says. Members that a later build adds are covered by the MAC, too, and are not read.
#[derive(Serialize, Deserialize)]
struct Payload<'a> {
    checkpoint: u64,
    iat: i64,
    first: u64,
    events: u32,
    #[serde(borrow)]
    root: Cow<'a, str>,
    previous: Cow<'a, str>,
    kept_from: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_by: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwk: Option<Cow<'a, Map<String, Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<Cow<'a, str>>,
}

/// Writes the payload, with its MAC. The header has its dot.
pub(super) fn payload(
    claims: &CheckpointClaims,
    jwk: Option<&Value>,
    header: &str,
    key: &RecordKey,
) -> Result<Vec<u8>, serde_json::Error> {
    let checkpoint = &claims.checkpoint;
    let mut payload = serde_json::to_vec(&Payload {
        checkpoint: checkpoint.number,
        iat: checkpoint.sealed_at.unix_timestamp(),
        first: checkpoint.first,
        events: checkpoint.events,
        root: checkpoint.root.to_string().into(),
        previous: checkpoint.previous.to_string().into(),
        kept_from: checkpoint.kept_from,
        retention: claims.retention.map(Duration::whole_seconds),
        accepted_by: claims.accepted_by.as_deref().map(Into::into),
        jwk: jwk.and_then(Value::as_object).map(Cow::Borrowed),
        mac: None,
    })?;
    let mac = key.mac(&covered(header, &payload));
    payload.pop();
    payload.extend_from_slice(end(&mac.to_string()).as_bytes());
    Ok(payload)
}

/// What the MAC covers: the header with its dot, and the payload as it would be without the MAC.
fn covered(header: &str, payload: &[u8]) -> Vec<u8> {
    [header.as_bytes(), payload].concat()
}

fn end(mac: &str) -> String {
    format!(r#","mac":"{mac}"}}"#)
}

/// A checkpoint that was parsed, and of which nothing is verified yet.
pub(super) struct Parsed<'a> {
    pub(super) kid: String,
    /// The text that the signature covers.
    pub(super) signed: &'a str,
    pub(super) signature: Vec<u8>,
    /// The public key that it names.
    pub(super) jwk: Option<Map<String, Value>>,
    says: CheckpointClaims,
    /// The MAC, and what it should cover.
    mac: Option<(Digest256, Vec<u8>)>,
}

impl<'a> Parsed<'a> {
    pub(super) fn of(jws: &'a str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Header {
            kid: String,
        }
        let (signed, signature) = within_length(jws)?.rsplit_once('.')?;
        let (header, payload) = signed.split_at_checked(signed.find('.')? + 1)?;
        let decoded = URL_SAFE_NO_PAD.decode(header.trim_end_matches('.')).ok()?;
        let Header { kid } = serde_json::from_slice(&decoded).ok()?;
        // Ours, byte for byte.
        if header != TokenType::Checkpoint.header(ACCESS_ALGORITHM, &kid) {
            return None;
        }
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let read: Payload<'_> = serde_json::from_slice(&payload).ok()?;
        let mac = match read.mac.as_deref() {
            None => None,
            Some(mac) => {
                let mut said = payload.strip_suffix(end(mac).as_bytes())?.to_vec();
                said.push(b'}');
                Some((Digest256::parse(mac)?, covered(header, &said)))
            }
        };
        let checkpoint = Checkpoint {
            number: read.checkpoint,
            sealed_at: OffsetDateTime::from_unix_timestamp(read.iat).ok()?,
            first: read.first,
            events: read.events,
            root: Digest256::parse(&read.root)?,
            previous: Digest256::parse(&read.previous)?,
            kept_from: read.kept_from,
        };
        let says = CheckpointClaims {
            checkpoint,
            retention: read.retention.map(Duration::seconds),
            accepted_by: read.accepted_by.map(Cow::into_owned),
        };
        let jwk = read.jwk.map(Cow::into_owned);
        Some(Self { kid, signed, signature: URL_SAFE_NO_PAD.decode(signature).ok()?, jwk, says, mac })
    }

    pub(super) const fn has_mac(&self) -> bool {
        self.mac.is_some()
    }

    /// Judges the MAC of a checkpoint whose signature is not wrong.
    pub(super) fn judge(self, key: Option<&RecordKey>, signed_by: CheckpointProof) -> Option<CheckpointRead> {
        let has_mac = self.has_mac();
        if has_mac && !is_low(&self.signature) {
            return None;
        }
        let proof = match (self.mac, key) {
            (Some((mac, covered)), Some(key)) if key.admits(&covered, &mac) => CheckpointProof::Secret,
            (Some(_), Some(_)) => return None,
            (Some(_) | None, _) => signed_by,
        };
        Some(CheckpointRead { says: self.says, kid: self.kid, has_mac, proof })
    }
}

/// The order of P-256, the curve of ES256 (FIPS 186-4 D.1.2.3), and half of it.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
    0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];
const HALF: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xde,
    0x73, 0x7d, 0x56, 0xd3, 0x8b, 0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8,
];

/// Of the two signatures that verify, the one whose second number is the smaller. Otherwise anyone could change the
/// bytes of the last checkpoint, and with them its hash.
fn is_low(signature: &[u8]) -> bool {
    signature.len() == ES256_SIGNATURE_LENGTH && signature.get(32..).is_some_and(|second| *second <= HALF[..])
}

/// Makes the second number of a signature the smaller one.
pub(super) fn low(mut signature: Vec<u8>) -> Vec<u8> {
    if !is_low(&signature)
        && let Some(second) = signature.get_mut(32..)
    {
        negate(second);
    }
    signature
}

/// Takes a number from the order of the curve.
pub(super) fn negate(number: &mut [u8]) {
    let mut borrow = 0;
    for (byte, order) in number.iter_mut().zip(ORDER).rev() {
        let (difference, is_short) = order.overflowing_sub(*byte);
        let (difference, is_shorter) = difference.overflowing_sub(borrow);
        *byte = difference;
        borrow = u8::from(is_short || is_shorter);
    }
}

/// A checkpoint as builds before there were MACs signed it.
#[cfg(test)]
pub(super) fn without_mac(signer: &super::JosekitSigner, claims: &CheckpointClaims) -> String {
    let payload = payload(claims, None, "", &RecordKey::new([0; 32])).unwrap();
    let text = String::from_utf8(payload).unwrap();
    let (said, _) = text.split_once(",\"mac\"").unwrap();
    let payload = format!("{said}}}").into_bytes();
    signer.sign_with(TokenType::Checkpoint, ACCESS_ALGORITHM, |_| Ok(payload), |signature| signature).unwrap()
}
