//! A client redeems a code: one guarded write marks it as used and stores the tokens.

use countersign_domain::client::Client;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::code::{CodeRejected, PresentedCode};
use countersign_domain::error::OAuthError;
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::GrantId;
use countersign_domain::secret::Secret;
use countersign_ports::{RedeemCode, Redeemed, StoreError};
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::context::cause::Cause;
use crate::steps::end_grant::end_grant;
use crate::steps::mint_tokens::{Mint, mint_tokens};
use crate::steps::prove_key::prove_key_of_tokens;
use crate::steps::token_access::{AccessRejected, access_of_grant};
use crate::{AuthenticateClientError, Context, MintError, ProveKeyError, TokenAnswer};

/// What the client sends.
#[derive(Clone, Debug)]
pub struct ExchangeCode {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// The code.
    pub code: Secret,
    /// The redirect URI that the code went to, as the client says.
    pub redirect_uri: String,
    /// Its PKCE verifier.
    pub verifier: Option<Secret>,
    /// The resources that the access token is for, if fewer than were granted.
    pub resources: Vec<String>,
    /// A DPoP proof of the key that the tokens are bound to.
    pub proof: Option<String>,
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeCodeError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type.
    #[error("client may not use authorization codes")]
    GrantTypeNotAllowed,
    /// A resource is not valid, or was not granted.
    #[error("resource is refused")]
    Resource(#[source] OAuthError),
    /// The code is not valid.
    #[error("code is refused")]
    Rejected {
        /// Why.
        #[source]
        why: CodeRejected,
        /// What the client learns, if it learns more than that the code is not valid.
        shown: Option<CodeRejected>,
    },
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// Tokens could not be made.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// Storage failed. The code is still valid unless the tokens were stored.
    #[error("code could not be redeemed")]
    Store(#[from] StoreError),
}

impl From<AccessRejected> for ExchangeCodeError {
    fn from(rejected: AccessRejected) -> Self {
        match rejected {
            AccessRejected::Refused(error) => Self::Resource(error),
            AccessRejected::Store(error) => Self::Store(error),
        }
    }
}

/// Redeems a code. A refusal uses nothing up, with two exceptions: a code that is presented a second time
/// ends everything that came from the first, and a wrong verifier from the right client burns the code. Only
/// then is the cause asked for.
pub async fn exchange_code(
    context: &Context,
    cause: impl Fn() -> Cause,
    exchange: ExchangeCode,
) -> Result<TokenAnswer, ExchangeCodeError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &exchange.credentials).await?;
    if !client.may_use(GrantType::AuthorizationCode) {
        return Err(ExchangeCodeError::GrantTypeNotAllowed);
    }
    let presented = PresentedCode {
        code: &exchange.code,
        client: client.id,
        redirect_uri: Some(&exchange.redirect_uri),
        verifier: exchange.verifier.as_ref().map(Secret::expose),
    };
    let rejected = |why| rejected(context, &client, &presented, why);
    let id = exchange.code.id().map(GrantId::from_uuid);
    let id = id.ok_or_else(|| rejected(CodeRejected::Malformed))?;
    let grant = context.storage.find_grant(id).await?;
    let grant = grant.ok_or_else(|| rejected(CodeRejected::Unknown))?;
    if grant.is_of_device(&context.policy.public_url) {
        // Checked before anything that could burn the code. A device has no verifier, so without this check
        // anyone could redeem its code here without one.
        return Err(rejected(CodeRejected::OfDevice));
    }
    let wishes = Wishes { resources: exchange.resources, proof: exchange.proof };
    redeem_presented(context, cause, (now, &client, &grant), &presented, wishes).await
}

/// The refusal of a code, with what this client hears of it.
pub(crate) fn rejected(
    context: &Context,
    client: &Client,
    presented: &PresentedCode<'_>,
    why: CodeRejected,
) -> ExchangeCodeError {
    let shown = why.told_to(context.policy.listener(client), presented);
    ExchangeCodeError::Rejected { why, shown }
}

/// What the client wants of the access token.
pub(crate) struct Wishes {
    pub(crate) resources: Vec<String>,
    pub(crate) proof: Option<String>,
}

/// Redeems a grant for the client that presents its code. If the code is refused, this also revokes the grant
/// where it must.
pub(crate) async fn redeem_presented(
    context: &Context,
    cause: impl Fn() -> Cause,
    (now, client, grant): (OffsetDateTime, &Client, &Grant),
    presented: &PresentedCode<'_>,
    wishes: Wishes,
) -> Result<TokenAnswer, ExchangeCodeError> {
    let why = match grant.admit_code(now, presented) {
        Ok(()) => match redeem(context, now, client, grant, wishes).await? {
            Ok(answer) => return Ok(answer),
            Err(rejected) => rejected,
        },
        Err(rejected) => rejected,
    };
    let reason = match why {
        CodeRejected::Replayed => Some(RevocationReason::CodeReplayed),
        CodeRejected::VerifierMissing | CodeRejected::VerifierMalformed | CodeRejected::VerifierMismatch => {
            Some(RevocationReason::VerifierMismatch)
        }
        CodeRejected::Malformed
        | CodeRejected::Unknown
        | CodeRejected::OtherClient
        | CodeRejected::OfDevice
        | CodeRejected::Revoked
        | CodeRejected::NotAdmitted
        | CodeRejected::RedirectMismatch
        | CodeRejected::Expired
        | CodeRejected::VerifierUnexpected => None,
    };
    if let Some(reason) = reason {
        end_grant(context, &cause(), now, grant.into(), reason).await?;
        tracing::warn!(client.id = %client.id, grant.id = %grant.id, reason = reason.name(), "grant revoked");
    }
    Err(rejected(context, client, presented, why))
}

async fn redeem(
    context: &Context,
    now: OffsetDateTime,
    client: &Client,
    grant: &Grant,
    wishes: Wishes,
) -> Result<Result<TokenAnswer, CodeRejected>, ExchangeCodeError> {
    let access = access_of_grant(context, client, grant, &grant.scope, &wishes.resources).await?;
    let bound = grant.particulars.key;
    let key = prove_key_of_tokens(context, now, client, wishes.proof.as_deref(), bound).await?;
    let nonce = grant.nonce.as_deref();
    let mint = Mint { client, grant, parent: None, access, nonce, key };
    let minted = match mint_tokens(context, now, mint).await {
        Ok(minted) => minted,
        Err(MintError::NotAdmitted) => return Ok(Err(CodeRejected::NotAdmitted)),
        Err(error) => return Err(error.into()),
    };
    // The grant must stay until its code expires, so that a second redemption is noticed.
    let forget_after = minted.token.forget_after().max(grant.code_expires_at);
    Ok(match context.storage.redeem_code(RedeemCode { token: minted.token, now, forget_after }).await? {
        Redeemed::Stored => {
            context.uses.note_client(client.id, now);
            Ok(minted.answer)
        }
        Redeemed::Replayed => Err(CodeRejected::Replayed),
        Redeemed::Revoked => Err(CodeRejected::Revoked),
        Redeemed::Unknown => Err(CodeRejected::Unknown),
    })
}
