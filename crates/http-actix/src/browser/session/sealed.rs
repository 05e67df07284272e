//! How the session writes its values: as lists without names, because a cookie has only 4 KiB. A value that
//! cannot be read opens as `None`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::challenge::{ChallengeDigest, IssuedChallenge};
use countersign_domain::desk::pending::{Fact, FactName, PendingChange};
use countersign_domain::device::UserCode;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, InvitationId, UserId};
use countersign_domain::invitation::AcceptedInvitation;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::pending::{
    AcceptedUsers, AccessRequest, ClientRequest, PendingAuthorization, Requester, WaitingDevice,
};
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

use super::WaitingInvitation;

/// A request in the cookie. All requesters use the same list:
///
/// - a client: its id, its redirect URI, its state;
/// - our account page: [`ACCOUNT_PAGE`], the page to return to, no state and no scopes;
/// - a device: the id of its client, the page where the browser goes afterwards, the code that it shows as
///   the state, and its id in the [`SealedRarities`].
///
/// Earlier releases write and read the same lists, so replicas of both can run side by side. Cookies live as
/// long as a request (half an hour by default). So if a release changes the lists, the next one no longer has
/// to read the old ones.
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

/// Names our account page, where other requests have their client's id.
const ACCOUNT_PAGE: Uuid = Uuid::nil();

/// Values that few requests have: the languages that the client asks for, the time before which no sign-in
/// counts, and values that are rarer still.
#[derive(Default, Serialize, Deserialize)]
struct SealedExtras(
    Option<String>,
    Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<SealedRarities>,
);

/// Values that hardly any request has. Their names are single letters.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SealedRarities {
    /// The response is a form post.
    #[serde(rename = "f", skip_serializing_if = "std::ops::Not::not")]
    form_post: bool,
    #[serde(rename = "r", skip_serializing_if = "Vec::is_empty")]
    resources: Vec<String>,
    #[serde(rename = "k", skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The users that the client accepts, with spaces between them.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    accepted: Option<String>,
    #[serde(rename = "d", skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    /// The client asks when the user signed in.
    #[serde(rename = "a", skip_serializing_if = "std::ops::Not::not")]
    asked_auth_time: bool,
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    /// The invitation that is accepted: its id and its group.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    invitation: Option<(String, String)>,
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
        let of = |access: &AccessRequest| Self {
            resources: access.resources.clone(),
            document: access.document.clone(),
            ..Self::default()
        };
        let this = match &pending.requester {
            Requester::Client(request) => Self {
                form_post: request.response_mode == ResponseMode::FormPost,
                key: request.key.map(|key| key.to_string()),
                accepted: seal_users(&request.accepted),
                asked_auth_time: request.asked_auth_time,
                ..of(&request.access)
            },
            Requester::AccountPage { .. } => Self::default(),
            Requester::Device(waiting) => {
                Self { device: Some(encode(waiting.id.as_uuid())), ..of(&waiting.access) }
            }
        };
        let this = Self { invitation: pending.invitation.as_ref().map(seal_invitation), ..this };
        (this != Self::default()).then_some(this)
    }
}

#[derive(Serialize, Deserialize)]
struct SealedChallenge(
    String,
    String,
    i64,
    u8,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
    // A list cannot have gaps. If there is a kind but no chain, the chain is an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
);

impl SealedPending {
    pub(super) fn seal(pending: &PendingAuthorization) -> Self {
        let request = pending.client_request();
        let name = pending.requester.name();
        let challenge = request.and_then(|request| request.code_challenge);
        Self(
            encode(pending.access().map_or(ACCOUNT_PAGE, |access| access.client.as_uuid())),
            name.redirect_uri.to_owned(),
            pending.scope().to_string(),
            name.state.map(Cow::into_owned),
            request.and_then(|request| request.nonce.clone()),
            challenge.map(|challenge| URL_SAFE_NO_PAD.encode(challenge.as_bytes())),
            request.and_then(|request| request.login_hint.clone()),
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
        let SealedRarities {
            form_post,
            resources,
            key,
            accepted,
            device,
            asked_auth_time,
            document,
            invitation,
        } = rarities.unwrap_or_default();
        let client = uuid(&client)?;
        let redirect_uri = RedirectUri::from_trusted(redirect_uri);
        let access = || {
            let client = ClientId::from_uuid(client);
            let scope =
                if scope.is_empty() { ScopeSet::default() } else { ScopeSet::from_stored(&scope).ok()? };
            Some(AccessRequest { client, document, scope, resources })
        };
        let requester = match device {
            None if client == ACCOUNT_PAGE => Requester::AccountPage { page: redirect_uri },
            None => Requester::Client(ClientRequest {
                access: access()?,
                redirect_uri,
                state,
                nonce,
                code_challenge: opened(code_challenge, |text| decode(text).map(CodeChallenge::from_bytes))?,
                login_hint,
                response_mode: if form_post { ResponseMode::FormPost } else { ResponseMode::Query },
                key: opened(key, KeyThumbprint::parse)?,
                accepted: opened(accepted, open_users)?.unwrap_or_default(),
                asked_auth_time,
            }),
            Some(id) => Requester::Device(WaitingDevice {
                id: GrantId::from_uuid(uuid(&id)?),
                code: UserCode::parse(&state?)?,
                access: access()?,
                done: redirect_uri,
            }),
        };
        let oldest_sign_in = match oldest_sign_in {
            Some(time) => Some(OffsetDateTime::from_unix_timestamp(time).ok()?),
            None => None,
        };
        Some(PendingAuthorization {
            requester,
            invitation: match invitation {
                Some(sealed) => Some(open_invitation(&sealed)?),
                None => None,
            },
            ui_locales,
            oldest_sign_in,
            expires_at: OffsetDateTime::from_unix_timestamp(expires_at).ok()?,
            challenges: challenges.into_iter().map(SealedChallenge::open).collect::<Option<_>>()?,
        })
    }
}

fn seal_invitation(AcceptedInvitation { id, group }: &AcceptedInvitation) -> (String, String) {
    (encode(id.as_uuid()), group.to_string())
}

fn open_invitation((id, group): &(String, String)) -> Option<AcceptedInvitation> {
    let id = InvitationId::from_uuid(uuid(id)?);
    Some(AcceptedInvitation { id, group: GroupName::parse(group).ok()? })
}

/// An invitation that waits for its client, in the cookie.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedInvitation((String, String), String, i64);

impl SealedInvitation {
    pub(super) fn seal(waiting: &WaitingInvitation) -> Self {
        let client = encode(waiting.client.as_uuid());
        Self(seal_invitation(&waiting.invitation), client, waiting.expires_at.unix_timestamp())
    }

    pub(super) fn open(self) -> Option<WaitingInvitation> {
        let Self(invitation, client, expires_at) = self;
        Some(WaitingInvitation {
            invitation: open_invitation(&invitation)?,
            client: ClientId::from_uuid(uuid(&client)?),
            expires_at: OffsetDateTime::from_unix_timestamp(expires_at).ok()?,
        })
    }
}

fn seal_users(accepted: &AcceptedUsers) -> Option<String> {
    match accepted {
        AcceptedUsers::Anyone => None,
        AcceptedUsers::OneOf(users) => {
            let users: Vec<_> = users.iter().map(|user| encode(user.as_uuid())).collect();
            Some(users.join(" "))
        }
    }
}

fn open_users(sealed: &str) -> Option<AcceptedUsers> {
    let users = sealed.split(' ').map(|text| uuid(text).map(UserId::from_uuid));
    Some(AcceptedUsers::OneOf(users.collect::<Option<_>>()?))
}

/// Reads an optional value. `None` if there is a value, but it cannot be read.
fn opened<T>(sealed: Option<String>, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match sealed {
        Some(text) => Some(Some(read(&text)?)),
        None => Some(None),
    }
}

impl SealedChallenge {
    fn seal(challenge: &IssuedChallenge) -> Self {
        Self(
            encode(challenge.id.as_uuid()),
            URL_SAFE_NO_PAD.encode(challenge.digest.as_bytes()),
            challenge.expires_at.unix_timestamp(),
            challenge.failures,
            challenge.chain.clone().or_else(|| challenge.kind.map(|_| String::new())),
            challenge.kind.map(|kind| kind.name().to_owned()),
        )
    }

    fn open(self) -> Option<IssuedChallenge> {
        Some(IssuedChallenge {
            id: GrantId::from_uuid(uuid(&self.0)?),
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

/// A form post in the cookie: where it goes, and what it says.
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

/// A change of wallets in the cookie.
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

/// A change at the desk in the cookie: its challenge, the wallet that signs, the proposal, whether a second
/// operator must sign too, and what its subject was.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedDeskChange(
    SealedChallenge,
    SealedAccount,
    Option<String>,
    bool,
    Vec<(String, String)>,
);

impl SealedDeskChange {
    pub(super) fn seal(change: &PendingChange) -> Self {
        Self(
            SealedChallenge::seal(&change.challenge),
            SealedAccount::seal(&change.signer),
            change.proposal.map(|id| encode(id.as_uuid())),
            change.needs_second,
            change.seen.iter().map(|fact| (fact.name.name().to_owned(), fact.value.clone())).collect(),
        )
    }

    pub(super) fn open(self) -> Option<PendingChange> {
        let Self(challenge, signer, proposal, needs_second, seen) = self;
        let fact = |(name, value): (String, String)| Some(Fact { name: FactName::parse(&name)?, value });
        Some(PendingChange {
            challenge: challenge.open()?,
            signer: signer.open(),
            proposal: opened(proposal, |id| uuid(id).map(GrantId::from_uuid))?,
            needs_second,
            seen: seen.into_iter().map(fact).collect::<Option<_>>()?,
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

fn encode(uuid: Uuid) -> String {
    URL_SAFE_NO_PAD.encode(uuid)
}

fn uuid(text: &str) -> Option<Uuid> {
    decode(text).map(Uuid::from_bytes)
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}
