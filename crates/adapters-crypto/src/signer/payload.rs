//! The payloads of tokens as JSON. Unknown values are left out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_domain::id::{Sid, SubjectId, TokenId, UserId};
use countersign_domain::id_token::{ACR, AMR, IdTokenClaims, IdTokenRead, LogoutClaims};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::token::{AccessClaims, AccessTokenRead};
use countersign_ports::SecurityEventClaims;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

/// The claims of RFC 9068 section 2.2, in the same order.
#[derive(Serialize)]
pub(super) struct AccessPayload<'a> {
    iss: &'a str,
    exp: i64,
    aud: Audience<'a>,
    sub: String,
    client_id: &'a str,
    iat: i64,
    jti: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation<'a>>,
}

/// A single audience is a string, because many resource servers support nothing else.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Audience<'a> {
    One(#[serde(borrow)] Cow<'a, str>),
    Several(Vec<Cow<'a, str>>),
}

/// The confirmation claim of RFC 9449 section 6.1.
#[derive(Serialize, Deserialize)]
struct Confirmation<'a> {
    jkt: Cow<'a, str>,
}

impl<'a> AccessPayload<'a> {
    pub(super) fn of(claims: &'a AccessClaims) -> Self {
        let audience = match claims.audience.as_slice() {
            [one] => Audience::One(one.into()),
            several => Audience::Several(several.iter().map(Into::into).collect()),
        };
        Self {
            iss: &claims.issuer,
            exp: claims.expires_at.unix_timestamp(),
            aud: audience,
            sub: claims.subject.to_string(),
            client_id: &claims.client,
            iat: claims.issued_at.unix_timestamp(),
            jti: claims.id.to_string(),
            auth_time: claims.authenticated_at.map(OffsetDateTime::unix_timestamp),
            scope: claims.scope.to_string(),
            groups: claims.groups.as_deref().map(names),
            cnf: claims.key.map(|key| Confirmation { jkt: key.to_string().into() }),
        }
    }
}

/// OpenID Connect Core sections 2 and 5.1, and our own claims about wallets.
#[derive(Serialize)]
pub(super) struct IdPayload<'a> {
    iss: &'a str,
    sub: String,
    aud: &'a str,
    exp: i64,
    iat: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_hash: Option<&'a str>,
    amr: [&'static str; 1],
    acr: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<String>,
    preferred_username: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_address: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_account: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wallets: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_proof: Option<Proof<'a>>,
}

#[derive(Serialize)]
struct Proof<'a> {
    text: &'a str,
    signature: &'a str,
}

impl<'a> IdPayload<'a> {
    pub(super) fn of(claims: &'a IdTokenClaims) -> Self {
        let user = &claims.user;
        let proof = claims.wallet_proof.as_ref();
        Self {
            iss: &claims.issuer,
            sub: claims.subject.to_string(),
            aud: &claims.audience,
            exp: claims.expires_at.unix_timestamp(),
            iat: claims.issued_at.unix_timestamp(),
            auth_time: claims.authenticated_at.map(OffsetDateTime::unix_timestamp),
            nonce: claims.nonce.as_deref(),
            at_hash: claims.access_token_hash.as_deref(),
            amr: [AMR],
            acr: ACR,
            sid: claims.session.map(|session| session.to_string()),
            preferred_username: &user.preferred_username,
            name: user.name.as_deref(),
            picture: user.picture.as_deref(),
            email: user.email.as_ref().map(|email| email.address.to_string()),
            email_verified: user.email.as_ref().map(|email| email.verified),
            wallet_address: user.wallet_address.as_deref(),
            wallet_account: user.wallet_account.as_deref(),
            wallets: user.wallets.as_deref(),
            groups: user.groups.as_deref().map(names),
            wallet_proof: proof.map(|proof| Proof { text: &proof.text, signature: &proof.signature }),
        }
    }
}

fn names(groups: &[GroupName]) -> Vec<&str> {
    groups.iter().map(GroupName::as_str).collect()
}

/// OpenID Connect Back-Channel Logout section 2.4.
#[derive(Serialize)]
pub(super) struct LogoutPayload<'a> {
    iss: &'a str,
    sub: String,
    aud: &'a str,
    iat: i64,
    exp: i64,
    jti: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<String>,
    events: Events,
}

#[derive(Serialize)]
struct Events {
    #[serde(rename = "http://schemas.openid.net/event/backchannel-logout")]
    logout: Empty,
}

/// An object without members.
#[derive(Serialize)]
struct Empty {}

impl<'a> LogoutPayload<'a> {
    pub(super) fn of(claims: &'a LogoutClaims) -> Self {
        Self {
            iss: &claims.issuer,
            sub: claims.subject.to_string(),
            aud: &claims.audience,
            iat: claims.issued_at.unix_timestamp(),
            exp: claims.expires_at.unix_timestamp(),
            jti: claims.id.to_string(),
            sid: claims.session.map(|session| session.to_string()),
            events: Events { logout: Empty {} },
        }
    }
}

/// RFC 8417 section 2.2.
#[derive(Serialize)]
pub(super) struct SecurityEventPayload<'a> {
    iss: &'a str,
    aud: &'a str,
    iat: i64,
    jti: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub_id: Option<SubjectIdentifier<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    txn: Option<&'a str>,
    toe: i64,
    events: BTreeMap<&'a str, Value>,
}

/// RFC 9493 section 3.2.4.
#[derive(Serialize)]
struct SubjectIdentifier<'a> {
    format: &'static str,
    iss: &'a str,
    sub: String,
}

impl<'a> SecurityEventPayload<'a> {
    pub(super) fn of(claims: &'a SecurityEventClaims) -> Result<Self, serde_json::Error> {
        let of_user = |user: UserId| SubjectIdentifier {
            format: "iss_sub",
            iss: &claims.issuer,
            sub: user.to_string(),
        };
        Ok(Self {
            iss: &claims.issuer,
            aud: &claims.audience,
            iat: claims.issued_at.unix_timestamp(),
            jti: claims.id.to_string(),
            sub_id: claims.subject.map(of_user),
            txn: claims.transaction.as_deref(),
            toe: claims.id.at_time().unix_timestamp(),
            events: BTreeMap::from([(&*claims.kind, serde_json::from_str(&claims.details)?)]),
        })
    }
}

/// Reads the payload of one of our access tokens.
pub(super) fn read_access(payload: &[u8]) -> Option<AccessTokenRead> {
    /// We never write an id with escapes, so borrowing the text is enough.
    #[derive(Deserialize)]
    struct Read<'a> {
        jti: &'a str,
        sub: &'a str,
        #[serde(borrow)]
        aud: Audience<'a>,
        client_id: String,
        #[serde(borrow)]
        cnf: Option<Confirmation<'a>>,
    }
    let Read { jti, sub, aud, client_id, cnf } = serde_json::from_slice(payload).ok()?;
    Some(AccessTokenRead {
        id: TokenId::parse(jti)?,
        subject: SubjectId::parse(sub)?.as_uuid(),
        audience: match aud {
            Audience::One(one) => vec![one.into_owned()],
            Audience::Several(several) => several.into_iter().map(Cow::into_owned).collect(),
        },
        key: match cnf {
            Some(Confirmation { jkt }) => Some(KeyThumbprint::parse(&jkt)?),
            None => None,
        },
        client: client_id,
    })
}

/// Reads an ID token whose signature was verified.
pub(super) fn read_id(payload: &[u8]) -> Option<IdTokenRead> {
    #[derive(Deserialize)]
    struct Read<'a> {
        sub: &'a str,
        aud: String,
        exp: i64,
        auth_time: Option<i64>,
        sid: Option<&'a str>,
    }
    let read: Read<'_> = serde_json::from_slice(payload).ok()?;
    let session = match read.sid {
        Some(sid) => Some(Sid::parse(sid)?),
        None => None,
    };
    let authenticated_at = match read.auth_time {
        Some(seconds) => Some(time(seconds)?),
        None => None,
    };
    let subject = SubjectId::parse(read.sub)?;
    Some(IdTokenRead { subject, audience: read.aud, session, authenticated_at, expires_at: time(read.exp)? })
}

fn time(seconds: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(seconds).ok()
}
