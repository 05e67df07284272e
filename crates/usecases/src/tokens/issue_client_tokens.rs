//! A client asks for a token of its own, without a person (RFC 6749 section 4.4): one guarded write stores
//! it.

use countersign_domain::audience::TokenAccess;
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
use crate::steps::token_access::nothing_is_left;
use crate::{AuthenticateClientError, Context, MintError, ProveKeyError, TokenAnswer};

/// What the client sends.
#[derive(Clone, Debug)]
pub struct IssueClientTokens {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// The scopes. Only those of resources can be granted, because each of ours is about a person.
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
    /// A scope is about a person, and there is none; or a scope or a resource is not valid, or the operator did
    /// not give it to this client.
    #[error("scope or resource is refused")]
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
    let refused = IssueClientTokensError::Resource;
    let asks_scope = asked.scope.as_deref().is_some_and(|scope| !scope.trim().is_empty());
    let rules = context.resource_rules(asks_scope || !asked.resources.is_empty()).await?;
    let scope =
        rules.choose_for_itself(&client, asked.scope.as_deref(), &asked.resources).map_err(refused)?;
    let access = TokenAccess::of_client(&rules, &client, &scope, &asked.resources).map_err(refused)?;
    // A client is in no group.
    let left = rules.catalog().within_groups(&access.scope, |_| false);
    if left.is_empty() && !access.scope.is_empty() {
        return Err(refused(nothing_is_left()));
    }
    let access = TokenAccess { scope: left, ..access };
    refuse_clients(context, &asked.resources).await.map_err(|rejected| match rejected {
        ResourcesRejected::Refused(error) => IssueClientTokensError::Resource(error),
        ResourcesRejected::Store(error) => error.into(),
    })?;
    let key = prove_key_of_tokens(context, now, &client, asked.proof.as_deref(), None).await?;
    let id = GrantId::at(now, context.entropy.bytes());
    let nobodys_secret = Secret::from_random(context.entropy.bytes());
    let issuer = rules.issuer().as_str();
    let resources = access.audience.as_slice().iter().filter(|uri| *uri != issuer).cloned().collect();
    let particulars = Particulars { resources, ..Particulars::default() };
    let grant = Grant::of_client(now, id, client.id, particulars, SecretHash::of(&nobodys_secret));
    let grant = Grant { scope: access.scope.clone(), ..grant };
    let mint = Mint { client: &client, grant: &grant, parent: None, access, nonce: None, key };
    let minted = mint_tokens(context, now, mint).await?;
    let forget_after = minted.token.forget_after();
    let command = IssueTokens { grant, token: minted.token, now, forget_after };
    match context.storage.issue_tokens(command).await? {
        TokensIssued::Stored => {
            context.uses.note_client(client.id, now);
            tracing::info!(client.id = %client.id, grant.id = %id, "client got a token of its own");
            Ok(minted.answer)
        }
        TokensIssued::IdTaken => Err(IssueClientTokensError::IdTaken),
        TokensIssued::ClientUnknown => Err(IssueClientTokensError::ClientGone),
    }
}
