//! What signing and continuing share: the grant that a pending request asks for, and the code that redeems
//! it.

use countersign_domain::consent::ConsentTerms;
use countersign_domain::device::DeviceRequest;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::id_token::SignedText;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::particulars::Particulars;
use countersign_domain::pending::{AccessRequest, ClientRequest, WaitingDevice};
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, EntropyExt};
use time::OffsetDateTime;

use crate::Context;
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;

/// Who gets a grant.
pub(crate) enum Recipient<'a> {
    /// A client; the browser takes a code to it.
    Client(&'a ClientRequest),
    /// A device, which has its code already.
    Device {
        /// What the page asked about.
        waiting: &'a WaitingDevice,
        /// The device's request as it is stored.
        stored: DeviceRequest,
    },
}

impl Recipient<'_> {
    pub(crate) const fn access(&self) -> &AccessRequest {
        match self {
            Self::Client(request) => &request.access,
            Self::Device { waiting, .. } => &waiting.access,
        }
    }

    /// How the person came here, for the event.
    pub(crate) const fn way(&self) -> &'static str {
        match self {
            Self::Client(_) => "browser",
            Self::Device { .. } => "device",
        }
    }

    /// What a person agrees to by signing, besides the client and the scopes.
    pub(crate) fn terms(&self) -> ConsentTerms {
        match self {
            Self::Client(request) => request.terms(),
            Self::Device { waiting, .. } => waiting.terms(),
        }
    }
}

/// A grant that is about to be stored.
pub(crate) struct NewGrant {
    pub(crate) login: CompleteLogin,
    /// The answer with its code.
    pub(crate) to: ClientAnswer,
}

/// Who signed for a grant, and the id that it gets.
pub(crate) struct Signer {
    pub(crate) id: GrantId,
    pub(crate) account: WalletAccount,
    pub(crate) new_user: UserId,
    /// What the wallet signed for this grant.
    pub(crate) signed: Option<SignedText>,
}

/// Makes the grant of a request and its code. The grant must stay stored while the challenge or the request
/// that led to it is valid. If it were forgotten before `good_until`, the same thing could lead to a second
/// grant.
pub(crate) fn new_grant(
    context: &Context,
    now: OffsetDateTime,
    recipient: &Recipient<'_>,
    signer: Signer,
    good_until: OffsetDateTime,
) -> NewGrant {
    let Signer { id, account, new_user, signed } = signer;
    let access = recipient.access();
    let code = match recipient {
        Recipient::Client(request) => {
            let code = Secret::with_id(id.as_uuid(), context.entropy.bytes());
            Code {
                to: answer::with_code(&context.policy, *request, code.expose()),
                redirect_uri: request.redirect_uri.clone(),
                hash: SecretHash::of(&code),
                expires_at: now + context.policy.lifetimes.code,
                nonce: request.nonce.clone(),
                challenge: request.code_challenge,
                key: request.key,
                asked_auth_time: request.asked_auth_time,
            }
        }
        // The device has its code already, and no browser sees it.
        Recipient::Device { waiting, stored } => Code {
            to: ClientAnswer::page(waiting.done.clone()),
            redirect_uri: waiting.done.clone(),
            hash: stored.code_hash,
            expires_at: stored.expires_at,
            nonce: None,
            challenge: None,
            key: None,
            asked_auth_time: false,
        },
    };
    let login = CompleteLogin {
        id,
        client: access.client,
        account,
        new_user,
        redirect_uri: Some(code.redirect_uri),
        scope: access.scope.clone(),
        withheld: ScopeSet::EMPTY,
        terms: recipient.terms(),
        nonce: code.nonce,
        code_challenge: code.challenge,
        particulars: Particulars {
            resources: access.resources.clone(),
            key: code.key,
            wallet_proof: signed.filter(|_| access.scope.contains(Scope::WalletProof)),
            asked_auth_time: code.asked_auth_time,
        },
        code_hash: code.hash,
        now,
        code_expires_at: code.expires_at,
        forget_after: code.expires_at.max(good_until),
        session: None,
        event: None,
    };
    NewGrant { login, to: code.to }
}

/// The code of a grant, and what it is bound to.
struct Code {
    to: ClientAnswer,
    redirect_uri: RedirectUri,
    hash: SecretHash,
    expires_at: OffsetDateTime,
    nonce: Option<String>,
    challenge: Option<CodeChallenge>,
    key: Option<KeyThumbprint>,
    asked_auth_time: bool,
}
