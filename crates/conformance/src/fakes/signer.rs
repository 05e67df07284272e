//! A signer whose signatures anyone can make, and the payloads that every signer writes.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::checkpoint::{Checkpoint, CheckpointClaims, Digest256, RecordKey, SignedCheckpoint};
use countersign_domain::group::GroupName;
use countersign_domain::id::{Sid, SubjectId, TokenId};
use countersign_domain::id_token::{ACR, AMR, IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::{AccessClaims, AccessTokenRead};
use countersign_ports::{
    CheckpointProof, CheckpointRead, PublicKeys, RecordReader, SecurityEventClaims, SignerError, TokenSigner,
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::keccak;
use crate::fixtures::RECORD_KEY;

/// The `typ` of checkpoints.
const CHECKPOINT: &str = "countersign-checkpoint+jwt";

/// Makes tokens that look real. The payload can be read; the signature is a hash that anyone can compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeSigner;

impl FakeSigner {
    fn sign(typ: &str, algorithm: SigningAlgorithm, payload: &Value) -> String {
        let payload = URL_SAFE_NO_PAD.encode(payload.to_string());
        let signed = format!("{}.{payload}", Self::header(typ, algorithm));
        format!("{signed}.{}", Self::signature(algorithm, &signed))
    }

    fn header(typ: &str, algorithm: SigningAlgorithm) -> String {
        let header = json!({ "typ": typ, "alg": algorithm.name(), "kid": Self::kid(algorithm) });
        URL_SAFE_NO_PAD.encode(header.to_string())
    }

    fn kid(algorithm: SigningAlgorithm) -> String {
        format!("fake-{}", algorithm.name())
    }

    fn signature(algorithm: SigningAlgorithm, signed: &str) -> String {
        URL_SAFE_NO_PAD.encode(keccak(format!("{} {signed}", algorithm.name()).as_bytes()))
    }

    /// The payload of a token, if its header and signature are those of this type and algorithm.
    fn read(typ: &str, algorithm: SigningAlgorithm, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        if header != Self::header(typ, algorithm) || signature != Self::signature(algorithm, signed) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

impl FakeSigner {
    /// A checkpoint as builds signed it before there were MACs. With a `kid`, by a key that is gone or was never ours.
    pub fn old_checkpoint(checkpoint: &Checkpoint, kid: Option<&str>) -> String {
        let payload = checkpoint_payload(&CheckpointClaims::of(checkpoint.clone()));
        match kid {
            None => Self::sign(CHECKPOINT, SigningAlgorithm::Es256, &payload),
            Some(kid) => {
                let header = json!({ "typ": CHECKPOINT, "alg": SigningAlgorithm::Es256.name(), "kid": kid });
                let [header, payload] =
                    [header, payload].map(|value| URL_SAFE_NO_PAD.encode(value.to_string()));
                format!("{header}.{payload}.AAAA")
            }
        }
    }
}

/// The secret is that of the fixtures.
impl RecordReader for FakeSigner {
    fn read(&mut self, jws: &str) -> Option<CheckpointRead> {
        self.read_checkpoint(jws, &RECORD_KEY)
    }

    fn record_key(&self) -> Option<&RecordKey> {
        Some(&RECORD_KEY)
    }
}

#[async_trait]
impl TokenSigner for FakeSigner {
    async fn sign_access_token(&self, claims: &AccessClaims) -> Result<String, SignerError> {
        Ok(Self::sign("at+jwt", SigningAlgorithm::Es256, &access_payload(claims)))
    }

    async fn sign_id_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &IdTokenClaims,
    ) -> Result<String, SignerError> {
        Ok(Self::sign("JWT", algorithm, &id_payload(claims)))
    }

    async fn sign_logout_token(
        &self,
        algorithm: SigningAlgorithm,
        claims: &LogoutClaims,
    ) -> Result<String, SignerError> {
        Ok(Self::sign("logout+jwt", algorithm, &logout_payload(claims)))
    }

    async fn sign_checkpoint(
        &self,
        claims: &CheckpointClaims,
        _: Option<&SignedCheckpoint>,
        key: &RecordKey,
    ) -> Result<String, SignerError> {
        let mut payload = checkpoint_payload(claims);
        let said = format!("{}.{payload}", Self::header(CHECKPOINT, SigningAlgorithm::Es256));
        payload["mac"] = key.mac(said.as_bytes()).to_string().into();
        Ok(Self::sign(CHECKPOINT, SigningAlgorithm::Es256, &payload))
    }

    async fn sign_security_event(&self, claims: &SecurityEventClaims) -> Result<String, SignerError> {
        Ok(Self::sign("secevent+jwt", SigningAlgorithm::Es256, &security_event_payload(claims)))
    }

    fn read_checkpoint(&self, jws: &str, key: &RecordKey) -> Option<CheckpointRead> {
        let (header, rest) = jws.split_once('.')?;
        let signed = Self::read(CHECKPOINT, SigningAlgorithm::Es256, jws);
        let is_named_as_ours = header == Self::header(CHECKPOINT, SigningAlgorithm::Es256);
        let (mut payload, proof) = match signed {
            Some(payload) => (payload, CheckpointProof::PublishedKey),
            None if is_named_as_ours => return None,
            None => {
                let payload = URL_SAFE_NO_PAD.decode(rest.split_once('.')?.0).ok()?;
                (serde_json::from_slice(&payload).ok()?, CheckpointProof::Nothing)
            }
        };
        let named: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let mac = payload.as_object_mut()?.remove("mac");
        let proof = match &mac {
            None => proof,
            Some(mac) => {
                let mac = Digest256::parse(mac.as_str()?)?;
                if !key.admits(format!("{header}.{payload}").as_bytes(), &mac) {
                    return None;
                }
                CheckpointProof::Secret
            }
        };
        let checkpoint = Checkpoint {
            number: payload["checkpoint"].as_u64()?,
            sealed_at: OffsetDateTime::from_unix_timestamp(payload["iat"].as_i64()?).ok()?,
            first: payload["first"].as_u64()?,
            events: u32::try_from(payload["events"].as_u64()?).ok()?,
            root: Digest256::parse(payload["root"].as_str()?)?,
            previous: Digest256::parse(payload["previous"].as_str()?)?,
            kept_from: payload["kept_from"].as_u64()?,
        };
        let says = CheckpointClaims {
            checkpoint,
            retention: payload["retention"].as_i64().map(Duration::seconds),
            accepted_by: payload["accepted_by"].as_str().map(str::to_owned),
        };
        Some(CheckpointRead { says, kid: named["kid"].as_str()?.to_owned(), has_mac: mac.is_some(), proof })
    }

    fn read_access_token(&self, token: &str) -> Option<AccessTokenRead> {
        let (signed, _) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        if header != Self::header("at+jwt", SigningAlgorithm::Es256) {
            return None;
        }
        let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(AccessTokenRead {
            id: TokenId::parse(payload["jti"].as_str()?)?,
            subject: SubjectId::parse(payload["sub"].as_str()?)?.as_uuid(),
            audience: match payload["aud"].as_array() {
                Some(several) => several.iter().map(text).collect::<Option<_>>()?,
                None => vec![text(&payload["aud"])?],
            },
            key: match payload.get("cnf") {
                Some(confirmed) => Some(KeyThumbprint::parse(confirmed["jkt"].as_str()?)?),
                None => None,
            },
            client: text(&payload["client_id"])?,
        })
    }

    fn read_id_token(&self, token: &str) -> Option<IdTokenRead> {
        let payload =
            SigningAlgorithm::ALL.iter().find_map(|algorithm| Self::read("JWT", *algorithm, token))?;
        let time = |value: &Value| OffsetDateTime::from_unix_timestamp(value.as_i64()?).ok();
        Some(IdTokenRead {
            subject: SubjectId::parse(payload["sub"].as_str()?)?,
            audience: payload["aud"].as_str()?.to_owned(),
            session: payload["sid"].as_str().and_then(Sid::parse),
            authenticated_at: time(&payload["auth_time"]),
            expires_at: time(&payload["exp"])?,
        })
    }

    fn public_keys(&self) -> PublicKeys {
        let keys = SigningAlgorithm::ALL.map(|algorithm| {
            json!({ "kty": "fake", "use": "sig", "alg": algorithm.name(), "kid": Self::kid(algorithm) })
        });
        let algorithms = SigningAlgorithm::ALL.map(|algorithm| algorithm.name().to_owned());
        PublicKeys { jwks: json!({ "keys": keys }).to_string(), algorithms: algorithms.to_vec() }
    }
}

/// The claims of RFC 9068 section 2.2 and RFC 9449 section 6.1.
pub(crate) fn access_payload(claims: &AccessClaims) -> Value {
    let audience = match claims.audience.as_slice() {
        [one] => json!(one),
        several => json!(several),
    };
    without_nulls(json!({
        "iss": claims.issuer,
        "aud": audience,
        "sub": claims.subject.to_string(),
        "client_id": claims.client,
        "scope": claims.scope.to_string(),
        "groups": claims.groups.as_deref().map(names),
        "auth_time": claims.authenticated_at.map(OffsetDateTime::unix_timestamp),
        "iat": claims.issued_at.unix_timestamp(),
        "exp": claims.expires_at.unix_timestamp(),
        "jti": claims.id.to_string(),
        "cnf": claims.key.map(|key| json!({ "jkt": key.to_string() })),
    }))
}

/// The claims of OpenID Connect Core sections 2 and 5.1, and our own.
pub(crate) fn id_payload(claims: &IdTokenClaims) -> Value {
    let user = &claims.user;
    let proof = claims.wallet_proof.as_ref();
    without_nulls(json!({
        "iss": claims.issuer,
        "sub": claims.subject.to_string(),
        "aud": claims.audience,
        "exp": claims.expires_at.unix_timestamp(),
        "iat": claims.issued_at.unix_timestamp(),
        "auth_time": claims.authenticated_at.map(OffsetDateTime::unix_timestamp),
        "nonce": claims.nonce,
        "at_hash": claims.access_token_hash,
        "amr": [AMR],
        "acr": ACR,
        "sid": claims.session.map(|session| session.to_string()),
        "preferred_username": user.preferred_username,
        "name": user.name,
        "picture": user.picture,
        "email": user.email.as_ref().map(|email| email.address.to_string()),
        "email_verified": user.email.as_ref().map(|email| email.verified),
        "wallet_address": user.wallet_address,
        "wallet_account": user.wallet_account,
        "wallets": user.wallets,
        "groups": user.groups.as_deref().map(names),
        "wallet_proof": proof.map(|proof| json!({ "text": proof.text, "signature": proof.signature })),
    }))
}

fn names(groups: &[GroupName]) -> Vec<&str> {
    groups.iter().map(GroupName::as_str).collect()
}

/// The claims of OpenID Connect Back-Channel Logout section 2.4.
pub(crate) fn logout_payload(claims: &LogoutClaims) -> Value {
    without_nulls(json!({
        "iss": claims.issuer,
        "sub": claims.subject.to_string(),
        "aud": claims.audience,
        "iat": claims.issued_at.unix_timestamp(),
        "exp": claims.expires_at.unix_timestamp(),
        "jti": claims.id.to_string(),
        "sid": claims.session.map(|session| session.to_string()),
        "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
    }))
}

/// What a checkpoint says, besides its MAC and the key that it names.
pub(crate) fn checkpoint_payload(claims: &CheckpointClaims) -> Value {
    let checkpoint = &claims.checkpoint;
    without_nulls(json!({
        "checkpoint": checkpoint.number,
        "iat": checkpoint.sealed_at.unix_timestamp(),
        "first": checkpoint.first,
        "events": checkpoint.events,
        "root": checkpoint.root.to_string(),
        "previous": checkpoint.previous.to_string(),
        "kept_from": checkpoint.kept_from,
        "retention": claims.retention.map(Duration::whole_seconds),
        "accepted_by": claims.accepted_by,
    }))
}

pub(crate) fn security_event_payload(claims: &SecurityEventClaims) -> Value {
    let subject = claims.subject;
    let details: Value = serde_json::from_str(&claims.details).unwrap_or_default();
    without_nulls(json!({
        "iss": claims.issuer,
        "aud": claims.audience,
        "iat": claims.issued_at.unix_timestamp(),
        "jti": claims.id.to_string(),
        "sub_id": subject.map(|user| json!({ "format": "iss_sub", "iss": claims.issuer, "sub": user.to_string() })),
        "txn": claims.transaction,
        "toe": claims.id.at_time().unix_timestamp(),
        "events": { &claims.kind: details },
    }))
}

fn without_nulls(mut payload: Value) -> Value {
    if let Some(members) = payload.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    payload
}
