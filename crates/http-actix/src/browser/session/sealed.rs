//! How the session writes its values: as lists without names, because a cookie has 4 KiB. What cannot be read opens as nothing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::challenge::{ChallengeDigest, IssuedChallenge};
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::response_mode::ResponseMode;
use countersign_domain::scope::ScopeSet;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_domain::wallet_change::{PendingWalletChange, WalletChange};
use countersign_usecases::steps::answer::ClientAnswer;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// A request as the cookie has it: a list without names, because there are 4 KiB.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedPending(
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    i64,
    Vec<SealedChallenge>,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<SealedExtras>,
);

/// What few requests have: the language that the client wants, how old a sign-in may be, and what fewer still have.
#[derive(Default, Serialize, Deserialize)]
struct SealedExtras(
    Option<String>,
    Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<SealedRarities>,
);

/// What hardly any request has, by single letters.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SealedRarities {
    /// The answer goes by a form.
    #[serde(rename = "f", skip_serializing_if = "std::ops::Not::not")]
    form_post: bool,
    #[serde(rename = "r", skip_serializing_if = "Vec::is_empty")]
    resources: Vec<String>,
    #[serde(rename = "k", skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    required_user: Option<String>,
    #[serde(rename = "d", skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    document: Option<String>,
}

impl SealedExtras {
    fn seal(pending: &PendingAuthorization) -> Option<Self> {
        let oldest_sign_in = pending.oldest_sign_in.map(|time| time.unix_timestamp());
        let this = Self(pending.ui_locales.clone(), oldest_sign_in, SealedRarities::seal(pending));
        let Self(ui_locales, oldest_sign_in, rarities) = &this;
        (ui_locales.is_some() || oldest_sign_in.is_some() || rarities.is_some()).then_some(this)
    }
}

impl SealedRarities {
    fn seal(pending: &PendingAuthorization) -> Option<Self> {
        let this = Self {
            form_post: pending.response_mode == ResponseMode::FormPost,
            resources: pending.resources.clone(),
            key: pending.key.map(|key| key.to_string()),
            required_user: pending.required_user.map(|user| URL_SAFE_NO_PAD.encode(user.as_uuid())),
            device: pending.device.map(|device| URL_SAFE_NO_PAD.encode(device.as_uuid())),
            document: pending.document.clone(),
        };
        (this != Self::default()).then_some(this)
    }

    fn open(self, pending: PendingAuthorization) -> Option<PendingAuthorization> {
        let uuid = |text: Option<String>| match text {
            Some(text) => Some(Some(Uuid::from_bytes(decode(&text)?))),
            None => Some(None),
        };
        let key = match &self.key {
            Some(text) => Some(KeyThumbprint::parse(text)?),
            None => None,
        };
        Some(PendingAuthorization {
            response_mode: if self.form_post { ResponseMode::FormPost } else { ResponseMode::Query },
            resources: self.resources,
            key,
            required_user: uuid(self.required_user)?.map(UserId::from_uuid),
            device: uuid(self.device)?.map(GrantId::from_uuid),
            document: self.document,
            ..pending
        })
    }
}

#[derive(Serialize, Deserialize)]
struct SealedChallenge(
    String,
    String,
    i64,
    u8,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
    // A list has no gaps: behind a chain that is none there stands an empty one where there is a kind.
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
);

impl SealedPending {
    pub(super) fn seal(pending: &PendingAuthorization) -> Self {
        Self(
            URL_SAFE_NO_PAD.encode(pending.client.as_uuid()),
            pending.redirect_uri.as_str().to_owned(),
            pending.scope.to_string(),
            pending.state.clone(),
            pending.nonce.clone(),
            pending.code_challenge.map(|challenge| URL_SAFE_NO_PAD.encode(challenge.as_bytes())),
            pending.login_hint.clone(),
            pending.expires_at.unix_timestamp(),
            pending.challenges.iter().map(SealedChallenge::seal).collect(),
            SealedExtras::seal(pending),
        )
    }

    pub(super) fn open(self) -> Option<PendingAuthorization> {
        let Self(
            client,
            redirect_uri,
            scope,
            state,
            nonce,
            code_challenge,
            login_hint,
            expires_at,
            challenges,
            extras,
        ) = self;
        let SealedExtras(ui_locales, oldest_sign_in, rarities) = extras.unwrap_or_default();
        let oldest_sign_in = match oldest_sign_in {
            Some(time) => Some(OffsetDateTime::from_unix_timestamp(time).ok()?),
            None => None,
        };
        // The account page has no scopes.
        let scope = if scope.is_empty() { ScopeSet::default() } else { ScopeSet::parse(&scope).ok()? };
        let code_challenge = match code_challenge {
            Some(text) => Some(CodeChallenge::from_bytes(decode(&text)?)),
            None => None,
        };
        let client = ClientId::from_uuid(Uuid::from_bytes(decode(&client)?));
        let redirect_uri = RedirectUri::from_trusted(redirect_uri);
        let expires_at = OffsetDateTime::from_unix_timestamp(expires_at).ok()?;
        rarities.unwrap_or_default().open(PendingAuthorization {
            state,
            nonce,
            code_challenge,
            login_hint,
            ui_locales,
            oldest_sign_in,
            challenges: challenges.into_iter().map(SealedChallenge::open).collect::<Option<_>>()?,
            ..PendingAuthorization::bare(client, redirect_uri, scope, expires_at)
        })
    }
}

impl SealedChallenge {
    fn seal(challenge: &IssuedChallenge) -> Self {
        Self(
            URL_SAFE_NO_PAD.encode(challenge.id.as_uuid()),
            URL_SAFE_NO_PAD.encode(challenge.digest.as_bytes()),
            challenge.expires_at.unix_timestamp(),
            challenge.failures,
            challenge.chain.clone().or_else(|| challenge.kind.map(|_| String::new())),
            challenge.kind.map(|kind| kind.name().to_owned()),
        )
    }

    fn open(self) -> Option<IssuedChallenge> {
        Some(IssuedChallenge {
            id: GrantId::from_uuid(Uuid::from_bytes(decode(&self.0)?)),
            digest: ChallengeDigest::from_bytes(decode(&self.1)?),
            expires_at: OffsetDateTime::from_unix_timestamp(self.2).ok()?,
            failures: self.3,
            chain: self.4.filter(|chain| !chain.is_empty()),
            kind: match self.5 {
                Some(kind) => Some(AccountKind::parse(&kind)?),
                None => None,
            },
        })
    }
}

/// An answer as the cookie has it: where it goes and what it says.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedAnswer(String, Vec<(String, String)>);

impl SealedAnswer {
    pub(super) fn seal(answer: &ClientAnswer) -> Self {
        Self(answer.redirect_uri.as_str().to_owned(), answer.parameters.clone())
    }

    pub(super) fn open(self) -> ClientAnswer {
        let Self(redirect_uri, parameters) = self;
        let redirect_uri = RedirectUri::from_trusted(redirect_uri);
        ClientAnswer { redirect_uri, parameters, mode: ResponseMode::FormPost }
    }
}

/// A change as the cookie has it.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedChange(SealedChallenge, Option<String>, SealedAccount, SealedAccount);

#[derive(Serialize, Deserialize)]
struct SealedAccount(String, String, String);

impl SealedChange {
    pub(super) fn seal(change: &PendingWalletChange) -> Self {
        let other_digest = match change.change {
            WalletChange::Link { other_digest } => Some(URL_SAFE_NO_PAD.encode(other_digest.as_bytes())),
            WalletChange::Unlink => None,
        };
        Self(
            SealedChallenge::seal(&change.challenge),
            other_digest,
            SealedAccount::seal(&change.signer),
            SealedAccount::seal(&change.other),
        )
    }

    pub(super) fn open(self) -> Option<PendingWalletChange> {
        let Self(challenge, other_digest, signer, other) = self;
        let change = match other_digest {
            Some(text) => WalletChange::Link { other_digest: ChallengeDigest::from_bytes(decode(&text)?) },
            None => WalletChange::Unlink,
        };
        Some(PendingWalletChange {
            challenge: challenge.open()?,
            change,
            signer: signer.open(),
            other: other.open(),
        })
    }
}

impl SealedAccount {
    fn seal(account: &WalletAccount) -> Self {
        Self(account.family.clone(), account.chain.clone(), account.address.clone())
    }

    fn open(self) -> WalletAccount {
        let Self(family, chain, address) = self;
        WalletAccount { family, chain, address }
    }
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}
