//! Clients that are described by a document of their own (OAuth Client ID Metadata Document).
//!
//! A request that names such a client makes us fetch its document, and nothing more. The client is stored
//! when a person signs in to it, because from then on there are tokens that name it.

use std::sync::Arc;

use countersign_domain::admission::ClientAccess;
use countersign_domain::client::{AuthenticationMethod, Client, ClientAuthentication, ClientOrigin};
use countersign_domain::client_document::{DocumentUrl, host_of};
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::ClientId;
use countersign_domain::pending::{AccessRequest, PendingAuthorization, Requester};
use countersign_domain::registration::{RegistrationRejected, RequestedMetadata, Rules};
use countersign_domain::resource::{Catalog, OpenTo, Resource};
use countersign_domain::scope::{Scope, ScopeName};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, FetchError, Fetched, RegisterClient, StoreError, UpdateClient};

use crate::Context;
use crate::clients::judge_sector::{judge_sector, judge_sector_change};
use crate::clients::register_client::judge;
use crate::clients::registration::{Registration, Writer};

/// Why a document is refused. The texts are ours and quote nothing from the document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentRejected {
    /// It could not be fetched. The reason is only logged: otherwise a caller could use it to look into our
    /// network.
    #[error("its document cannot be fetched")]
    NotFetched(#[source] FetchError),
    /// Its media type is not JSON.
    #[error("its document is not of a JSON media type")]
    MediaType,
    /// It is not a JSON object with client metadata.
    #[error("its document is not a JSON object with the fields of client metadata")]
    Malformed(#[source] serde_json::Error),
    /// It describes another client.
    #[error("client_id in the document is not its URL")]
    OtherClient,
    /// It contains a secret, which everyone could read there.
    #[error("its document holds a client secret")]
    Secret,
    /// The client would need a secret.
    #[error("token_endpoint_auth_method in its document needs a secret")]
    NeedsSecret,
    /// It contains more metadata than we keep for one client.
    #[error(
        "in its document there is more than 5,000 bytes of metadata: name fewer or shorter addresses, and put keys at a jwks_uri"
    )]
    TooLarge,
    /// It breaks a rule of registration.
    #[error("in its document {0}")]
    Metadata(#[from] RegistrationRejected),
}

/// Why a client was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindClientError {
    /// It is not registered.
    #[error("client is not registered")]
    Unknown,
    /// Its document is refused.
    #[error("document of a client is refused")]
    Document(#[from] DocumentRejected),
    /// It could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// How many bytes of a document are kept. Section 6.6 of the draft recommends the same limit for the whole
/// document. Anyone can publish documents, and anyone who signs in makes us keep one.
const MAX_KEPT: usize = 5_000;

/// Finds a client by its `client_id`.
pub(crate) async fn find_client(context: &Context, name: &str) -> Result<Arc<Client>, FindClientError> {
    if let Some(id) = ClientId::parse(name) {
        let found = context.clients.find(id).await?;
        // A client with a document must be named by the document's address, so that we look at the document.
        return found.filter(|client| client.document.is_none()).ok_or(FindClientError::Unknown);
    }
    let policy = &context.policy;
    let url = DocumentUrl::parse(name, policy.public_url.is_loopback());
    let url = url.filter(|_| policy.client_documents).ok_or(FindClientError::Unknown)?;
    let stored = context.clients.find(url.client()).await?;
    let mut client = describe(context, &url, stored.as_deref()).await?;
    // What the operator decided about the client is not in its document.
    if let Some(stored) = stored {
        client.resources.clone_from(&stored.resources);
        client.access.clone_from(&stored.access);
    }
    Ok(Arc::new(client))
}

/// Finds a client by its `client_id` in storage only. A client with a document must be named by the
/// document's address.
pub(crate) async fn find_stored(context: &Context, name: &str) -> Result<Option<Arc<Client>>, StoreError> {
    let Some(id) = ClientId::named(name) else { return Ok(None) };
    let found = context.clients.find(id).await?;
    Ok(found.filter(|client| client.wire_id() == name))
}

/// Finds the client of a pending request.
pub(crate) async fn find_pending(
    context: &Context,
    access: &AccessRequest,
) -> Result<Arc<Client>, FindClientError> {
    match &access.document {
        Some(address) => find_client(context, address).await,
        None => context.clients.find(access.client).await?.ok_or(FindClientError::Unknown),
    }
}

/// Prepares the client of a request that is about to be granted, as [`find_pending`] found it. If the client
/// took the request's redirect URI back in the meantime, the request is refused. If the client has a
/// document, storage gets what the document says now; a client that is not stored yet is stored only when a
/// person signs. That leaves no event: what is stored is a copy of a public document.
pub(crate) async fn store_pending(
    context: &Context,
    pending: &PendingAuthorization,
    client: &Client,
    is_signed: bool,
) -> Result<(), FindClientError> {
    let is_taken_back = match &pending.requester {
        Requester::Client(request) => {
            client.redirect_uri(request.redirect_uri.as_str(), context.policy.own_origin()).is_none()
        }
        // These requests lead to a page of ours.
        Requester::AccountPage { .. } | Requester::Device(_) => false,
    };
    if is_taken_back {
        return Err(FindClientError::Unknown);
    }
    if client.document.is_none() {
        return Ok(());
    }
    match context.clients.find_fresh(client.id).await? {
        None if !is_signed => {}
        None => {
            tracing::info!(client.id = %client.id, origin = client.origin.name(), "client registered");
            context.clients.register(RegisterClient { client: client.clone(), event: None }).await?;
        }
        Some(stored) if is_as_described(&stored, client) => {}
        Some(_) => {
            context.clients.update(UpdateClient { client: client.clone(), event: None }).await?;
        }
    }
    Ok(())
}

/// Stores the client again after its request was granted. In between, upkeep may have deleted it because it
/// was not used. If a deletion is in progress, this waits for it to end; a later one sees the grant.
pub(crate) async fn keep_pending(context: &Context, access: &AccessRequest) -> Result<(), FindClientError> {
    let Some(address) = &access.document else { return Ok(()) };
    let client = find_client(context, address).await?;
    Ok(context.clients.keep(Arc::unwrap_or_clone(client)).await?)
}

fn is_as_described(stored: &Client, described: &Client) -> bool {
    stored.metadata == described.metadata && stored.authentication == described.authentication
}

async fn describe(
    context: &Context,
    url: &DocumentUrl,
    stored: Option<&Client>,
) -> Result<Client, FindClientError> {
    let now = context.clock.now();
    let fetched = context.fetcher.get(url.as_str()).await.map_err(DocumentRejected::NotFetched)?;
    let document = read_document(&fetched)?;
    if document.client_id.as_deref() != Some(url.as_str()) {
        return Err(DocumentRejected::OtherClient.into());
    }
    if document.names_a_secret {
        return Err(DocumentRejected::Secret.into());
    }
    let is_open = |resource: &Resource, _: &ScopeName| resource.open_to == OpenTo::Everyone;
    let declared = match &document.requested.scope {
        Some(scope) if Scope::names_others(scope) => context.resources.catalog().await?.only(is_open),
        Some(_) | None => Catalog::NONE,
    };
    let judged = judge(
        context.management(),
        requested_by(document.requested, url),
        Rules::of(ClientOrigin::Document, &declared),
    )
    .map_err(DocumentRejected::Metadata)?;
    let authentication = match judged.method {
        AuthenticationMethod::None => ClientAuthentication::Public,
        AuthenticationMethod::PrivateKeyJwt => ClientAuthentication::Keys,
        AuthenticationMethod::Secret(_) => return Err(DocumentRejected::NeedsSecret.into()),
    };
    if judged.metadata.size() > MAX_KEPT {
        return Err(DocumentRejected::TooLarge.into());
    }
    let nobodys_token = Secret::from_random(context.entropy.bytes());
    let described = Client {
        id: url.client(),
        authentication,
        metadata: judged.metadata,
        origin: ClientOrigin::Document,
        document: Some(url.as_str().to_owned()),
        resources: Vec::new(),
        access: ClientAccess::default(),
        registration_token: SecretHash::of(&nobodys_token),
        created_at: now.replace_nanosecond(0).unwrap_or(now),
    };
    let fetcher = &*context.fetcher;
    let fits = match stored {
        Some(stored) => judge_sector_change(fetcher, stored, &described).await,
        None => judge_sector(fetcher, &described.metadata).await,
    };
    fits.map_err(DocumentRejected::Metadata)?;
    Ok(described)
}

/// Reads a document.
fn read_document(fetched: &Fetched) -> Result<Registration, DocumentRejected> {
    let essence = fetched.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    if essence != "application/json" && !(essence.starts_with("application/") && essence.ends_with("+json")) {
        return Err(DocumentRejected::MediaType);
    }
    let mut deserializer = serde_json::Deserializer::from_slice(&fetched.body);
    let document = Registration::read(Writer::Document, &mut deserializer);
    let document = document.and_then(|document| deserializer.end().map(|()| document));
    document.map_err(DocumentRejected::Malformed)
}

/// What a document asks for. The same document is for every server, so grant types and response types that we do not
/// know are ignored, as scopes are.
fn requested_by(document: RequestedMetadata, url: &DocumentUrl) -> RequestedMetadata {
    let with_a_page = [GrantType::AuthorizationCode, GrantType::RefreshToken].map(GrantType::name);
    let with_a_page = |names: Vec<String>| {
        names.into_iter().filter(|name| with_a_page.contains(&name.as_str())).collect::<Vec<_>>()
    };
    let code = |types: Vec<String>| types.into_iter().filter(|name| name == "code").collect::<Vec<_>>();
    let none = || AuthenticationMethod::None.name().to_owned();
    RequestedMetadata {
        client_name: Some(document.client_name.unwrap_or_else(|| host_of(url.as_str()).to_owned())),
        response_types: document.response_types.map(code),
        grant_types: document.grant_types.map(with_a_page),
        token_endpoint_auth_method: Some(document.token_endpoint_auth_method.unwrap_or_else(none)),
        ..document
    }
}
