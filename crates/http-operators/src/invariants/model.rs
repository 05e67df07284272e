//! What must be true according to the contract: what wallets signed, whose they are, and what a token may say
//! because of that.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use url::Url;

use crate::site::{ISSUER, TestClient};

pub(super) type Words = BTreeSet<String>;

/// What a text says to its reader. Nothing else in it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) client: String,
    /// An origin, the scheme of an app, `device` or `program`.
    pub(super) destination: String,
    pub(super) scopes: Words,
    pub(super) audiences: Words,
}

impl Said {
    /// Reads the statement and the list of resources.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (head, list) = text.split_once("\nResources:")?;
        let lines: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        let named =
            |start: &str| lines.iter().filter_map(|line| line.strip_prefix(start)).collect::<Vec<_>>();
        let [client] = named("urn:countersign:client:")[..] else { return None };
        let scopes: Words = named("urn:countersign:scope:").into_iter().map(ToOwned::to_owned).collect();
        let mut others =
            lines.iter().filter(|line| !line.starts_with("urn:countersign:")).map(|line| (*line).to_owned());
        let destination = if head.contains("\nSign in on the device that shows ") {
            "device".to_owned()
        } else if head.contains("\nLet a program act as me here") {
            "program".to_owned()
        } else if head.contains("\nSign in to ") {
            others.next()?
        } else {
            return None;
        };
        let resources: Words = others.collect();
        Some(Self {
            client: client.to_owned(),
            destination,
            audiences: audiences(&resources, &scopes),
            scopes,
        })
    }
}

/// The audiences of tokens: the resources, or the issuer if there are none. With `openid`, the issuer too.
pub(super) fn audiences(resources: &Words, scopes: &Words) -> Words {
    let mut audiences = resources.clone();
    if resources.is_empty() || scopes.contains("openid") {
        audiences.insert(ISSUER.to_owned());
    }
    audiences
}

/// Where a redirect URI leads: its origin, or the scheme of an app.
pub(super) fn destination(uri: &str) -> String {
    match Url::parse(uri) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => url.origin().ascii_serialization(),
        Ok(url) => format!("{}:/", url.scheme()),
        Err(_) => uri.to_owned(),
    }
}

/// Is this one of the client's redirect URIs? They are compared byte for byte, except for the port of a
/// loopback IP literal, and of `localhost` for documents and public clients. A page of ours never is one.
pub(super) fn is_registered(client: &TestClient, uri: &str) -> bool {
    let without_port = |uri: &str| {
        let mut url = Url::parse(uri).ok()?;
        let is_free = match url.host_str() {
            Some("127.0.0.1" | "[::1]") => true,
            Some("localhost") => client.has_free_localhost(),
            Some(_) | None => false,
        };
        (url.scheme() == "http" && is_free).then(|| url.set_port(None).ok().map(|()| url.to_string()))?
    };
    let admits = |registered: &String| {
        registered == uri || without_port(registered).is_some_and(|ours| without_port(uri) == Some(ours))
    };
    !uri.starts_with(ISSUER) && client.uris.iter().any(admits)
}

/// A text that a user signed and the server accepted.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) user: usize,
    pub(super) said: Said,
    /// Can the consent still be repeated? Not after the client's access was revoked.
    pub(super) stands: bool,
}

/// Did this user sign all of it for this client, this destination and these audiences? Signatures for the
/// same destination and audiences are one consent.
pub(super) fn is_agreed(signed: &[Signed], user: usize, asked: &Said) -> bool {
    let mut terms: Vec<(&Words, Words)> = Vec::new();
    let same = signed.iter().filter(|signed| {
        let said = &signed.said;
        signed.stands
            && signed.user == user
            && said.client == asked.client
            && said.destination == asked.destination
    });
    for Signed { said, .. } in same {
        match terms.iter_mut().find(|(audiences, _)| **audiences == said.audiences) {
            Some((_, scopes)) => scopes.extend(said.scopes.iter().cloned()),
            None => terms.push((&said.audiences, said.scopes.clone())),
        }
    }
    terms
        .iter()
        .any(|(audiences, scopes)| asked.audiences.is_subset(audiences) && asked.scopes.is_subset(scopes))
}

/// The most that a code, a device or a token family may give, and which client and user it is for.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) client: usize,
    pub(super) user: usize,
    pub(super) scopes: Words,
    pub(super) audiences: Words,
    pub(super) nonce: Option<String>,
}

/// A parsed response of the token endpoint.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) sub: String,
    pub(super) scopes: Words,
    pub(super) audiences: Words,
    pub(super) is_bound: bool,
}

impl Tokens {
    /// Reads a response, and compares every value in it with what may be given. `Err` names a value that does
    /// not come from a text.
    pub(super) fn judge(
        answer: &Value,
        client: &TestClient,
        scopes: &Words,
        audiences: &Words,
        nonce: Option<&str>,
    ) -> Result<Self, String> {
        let access = answer["access_token"].as_str().ok_or("an answer without an access token")?;
        let claims = payload(access).ok_or("an access token that cannot be read")?;
        let text = |name: &str| claims[name].as_str().unwrap_or_default().to_owned();
        let tokens = Self {
            access: access.to_owned(),
            refresh: answer["refresh_token"].as_str().map(ToOwned::to_owned),
            sub: text("sub"),
            scopes: words(&text("scope")),
            audiences: match claims["aud"].as_array() {
                Some(several) => several.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
                None => Words::from([text("aud")]),
            },
            is_bound: claims.get("cnf").is_some(),
        };
        hold(text("iss") == ISSUER, || format!("iss {}", text("iss")))?;
        hold(text("client_id") == client.id, || {
            format!("a token of {} for {}", text("client_id"), client.id)
        })?;
        hold(tokens.scopes.is_subset(scopes), || {
            format!("scope {:?}, and what was signed and asked for is {scopes:?}", tokens.scopes)
        })?;
        let told = words(answer["scope"].as_str().unwrap_or_default());
        hold(told.is_subset(scopes), || {
            format!("the answer says scope {told:?}, and {scopes:?} was signed")
        })?;
        hold(!tokens.audiences.is_empty() && tokens.audiences.is_subset(audiences), || {
            format!("aud {:?}, and what was signed and asked for is {audiences:?}", tokens.audiences)
        })?;
        for audience in &tokens.audiences {
            hold(client.may_be_for(audience), || {
                format!("aud {audience}, which is not open to {:?}", client.kind)
            })?;
        }
        if let Some(id_token) = answer["id_token"].as_str() {
            let claims = payload(id_token).ok_or("an ID token that cannot be read")?;
            hold(scopes.contains("openid"), || "an ID token, and nobody signed for openid".to_owned())?;
            hold(claims["aud"] == client.id.as_str(), || format!("an ID token for {}", claims["aud"]))?;
            hold(claims["sub"] == tokens.sub.as_str(), || "an ID token about somebody else".to_owned())?;
            hold(claims["nonce"].as_str() == nonce, || {
                format!("nonce {}, and {nonce:?} was asked", claims["nonce"])
            })?;
        }
        Ok(tokens)
    }
}

/// Fails with this message if the statement is not true.
pub(super) fn hold(is_so: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what()) }
}

pub(super) fn words(text: &str) -> Words {
    text.split(' ').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// The payload of a JWT, without checking the signature.
fn payload(token: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?).ok()
}
