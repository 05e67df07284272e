//! A client asks for a token of its own, without a person (RFC 6749 section 4.4): one guarded write stores
//! it.

use countersign_domain::audience::Audience;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthError;
use countersign_domain::grant::Grant;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::GrantId;
use countersign_domain::particulars::Particulars;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, IssueTokens, StoreError, TokensIssued};

use crate::clients::authenticate_client::authenticate_client;
use crate::steps::choose_resources::{ResourcesRejected, refuse_clients};
use crate::steps::mint_tokens::{Mint, mint_tokens};
use crate::steps::prove_key::prove_key_of_tokens;
use crate::{AuthenticateClientError, Context, MintError, ProveKeyError, TokenAnswer};

/// What the client sends.
#[derive(Clone, Debug)]
pub struct IssueClientTokens {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// The scopes. None can be granted, because each is about a person.
    pub scope: Option<String>,
    /// The resources that the access token is for.
    pub resources: Vec<String>,
    /// A DPoP proof of the key that the token is bound to.
    pub proof: Option<String>,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum IssueClientTokensError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type, or is public.
    #[error("client may not ask for tokens of its own")]
    GrantTypeNotAllowed,
    /// The client asked for a scope. Every scope is about a person, and there is none.
    #[error("no scope makes sense without a person")]
    ScopeOfAPerson,
    /// A resource is not valid, or the operator did not open it to this client.
    #[error("resource is refused")]
    Resource(#[source] OAuthError),
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// The token could not be made.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// The client was deleted in the meantime.
    #[error("client is not registered any more")]
    ClientGone,
    /// Another grant has the new random id already.
    #[error("grant id is taken")]
    IdTaken,
    /// The token could not be stored.
    #[error("token could not be stored")]
    Store(#[from] StoreError),
}

/// Gives a client an access token whose subject is the client itself, and nothing else.
pub async fn issue_client_tokens(
    context: &Context,
    asked: IssueClientTokens,
) -> Result<TokenAnswer, IssueClientTokensError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &asked.credentials).await?;
    if client.is_public() || !client.may_use(GrantType::ClientCredentials) {
        return Err(IssueClientTokensError::GrantTypeNotAllowed);
    }
    if asked.scope.is_some_and(|scope| !scope.trim().is_empty()) {
        return Err(IssueClientTokensError::ScopeOfAPerson);
    }
    let audience = Audience::of_client(&context.policy.resources, &client, &asked.resources)
        .map_err(IssueClientTokensError::Resource)?;
    refuse_clients(context, &asked.resources).await.map_err(|rejected| match rejected {
        ResourcesRejected::Refused(error) => IssueClientTokensError::Resource(error),
        ResourcesRejected::Store(error) => error.into(),
    })?;
    let key = prove_key_of_tokens(context, now, &client, asked.proof.as_deref(), None).await?;
    let id = GrantId::at(now, context.entropy.bytes());
    let nobodys_secret = Secret::from_random(context.entropy.bytes());
    let particulars = Particulars { resources: asked.resources, ..Particulars::default() };
    let grant = Grant::of_client(now, id, client.id, particulars, SecretHash::of(&nobodys_secret));
    let mint =
        Mint { client: &client, grant: &grant, parent: None, scope: grant.scope, audience, nonce: None, key };
    let minted = mint_tokens(context, now, mint).await?;
    let forget_after = minted.token.forget_after();
    let command = IssueTokens { grant, token: minted.token, now, forget_after };
    match context.storage.issue_tokens(command).await? {
        TokensIssued::Stored => {
            tracing::info!(client.id = %client.id, grant.id = %id, "client got a token of its own");
            Ok(minted.answer)
        }
        TokensIssued::IdTaken => Err(IssueClientTokensError::IdTaken),
        TokensIssued::ClientUnknown => Err(IssueClientTokensError::ClientGone),
    }
}
