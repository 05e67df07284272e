//! A client registers (RFC 7591).

use countersign_domain::admission::{ClientAccess, Release};
use countersign_domain::client::{AuthenticationMethod, Client, ClientAuthentication, ClientOrigin};
use countersign_domain::client_secrets::ClientSecrets;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::ClientId;
use countersign_domain::registration::{
    self, JudgedMetadata, LeftOut, RegistrationRejected, RequestedMetadata, Rules,
};
use countersign_domain::resource::{Catalog, OpenTo, Resource};
use countersign_domain::scope::{ScopeName, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, JwsRejected, RegisterClient, Registered, StoreError};

use crate::Management;
use crate::act_refused::ActRefused;
use crate::clients::judge_sector::judge_sector;
use crate::context::creating::MADE_BEFORE;

/// A new client, with its secrets, which are shown only this once.
#[derive(Clone, Debug)]
pub struct RegisteredClient {
    /// The client.
    pub client: Client,
    /// Its secret, if it authenticates with one.
    pub secret: Option<Secret>,
    /// The registration access token (RFC 7592).
    pub registration_token: Secret,
    /// The redirect URIs that were not registered.
    pub left_out: Vec<LeftOut>,
}

/// Why nothing was registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterClientError {
    /// The metadata is not valid.
    #[error("client metadata is refused")]
    Rejected(#[from] RegistrationRejected),
    /// The client could not be stored.
    #[error("client could not be stored")]
    Store(#[from] StoreError),
    /// Another client has the new random id already.
    #[error("client id is taken")]
    IdTaken,
    /// The request registered a client before, which is not there any more.
    #[error("{MADE_BEFORE}")]
    MadeBefore,
}

impl From<RegisterClientError> for ActRefused {
    fn from(error: RegisterClientError) -> Self {
        match error {
            RegisterClientError::Rejected(rejected) => rejected.into(),
            RegisterClientError::Store(error) => error.into(),
            RegisterClientError::IdTaken => Self::ClientIdTaken,
            RegisterClientError::MadeBefore => Self::MadeBefore,
        }
    }
}

/// Registers a client.
pub async fn register_client(
    management: Management<'_>,
    requested: RequestedMetadata,
    origin: ClientOrigin,
) -> Result<RegisteredClient, RegisterClientError> {
    let is_open = |resource: &Resource, _: &ScopeName| {
        origin == ClientOrigin::Operator || resource.open_to == OpenTo::Everyone
    };
    let declared = declared_to(management, &requested, is_open).await?;
    register(management, requested, origin, &declared, Given::default()).await
}

/// Registers a client for the operator, with all that is given to it, in one commit: it is never there with another rule
/// of access. By giving a client a scope, the operator opens its resource to it too. The caller has checked the resources
/// ([`judge_opened`](crate::clients::open_resource::judge_opened)).
pub async fn register_declared(
    management: Management<'_>,
    requested: RequestedMetadata,
    given: Given,
) -> Result<RegisteredClient, RegisterClientError> {
    let declared = declared_to(management, &requested, |_, _| true).await?;
    register(management, requested, ClientOrigin::Operator, &declared, given).await
}

/// What the operator gives to a new client.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Its id; `None` for a random one.
    pub id: Option<ClientId>,
    /// Its secret, if it authenticates with one; `None` for a random one.
    pub secret: Option<Secret>,
    /// What is opened to it.
    pub resources: Opened,
    /// Who can sign in to it.
    pub access: ClientAccess,
}

/// The resources that are opened to a new client.
#[derive(Clone, Debug)]
pub enum Opened {
    /// These alone.
    Only(Vec<String>),
    /// These and, for a client of the operator's, those of its scopes.
    AndOfScopes(Vec<String>),
}

impl Default for Opened {
    fn default() -> Self {
        Self::AndOfScopes(Vec::new())
    }
}

async fn register(
    management: Management<'_>,
    requested: RequestedMetadata,
    origin: ClientOrigin,
    declared: &Catalog,
    given: Given,
) -> Result<RegisteredClient, RegisterClientError> {
    let Given { id, secret, resources, access } = given;
    let now = management.clock.now();
    let judged = judge_new(management, requested, Rules::of(origin, declared)).await?;
    let resources = match resources {
        Opened::Only(resources) => resources,
        Opened::AndOfScopes(mut resources) => {
            if origin == ClientOrigin::Operator {
                for uri in owners(declared, &judged.metadata.scopes) {
                    if !resources.contains(&uri) {
                        resources.push(uri);
                    }
                }
            }
            resources
        }
    };
    let (authentication, secret) = match judged.method {
        AuthenticationMethod::None => (ClientAuthentication::Public, None),
        AuthenticationMethod::PrivateKeyJwt => (ClientAuthentication::Keys, None),
        AuthenticationMethod::Secret(method) => {
            let secret = secret.unwrap_or_else(|| Secret::from_random(management.entropy.bytes()));
            let secrets = ClientSecrets::only(SecretHash::of(&secret));
            (ClientAuthentication::Secret { method, secrets }, Some(secret))
        }
    };
    let registration_token = Secret::from_random(management.entropy.bytes());
    let client = Client {
        id: id.unwrap_or_else(|| ClientId::at(now, management.entropy.bytes())),
        authentication,
        metadata: judged.metadata,
        origin,
        document: None,
        resources,
        access,
        registration_token: SecretHash::of(&registration_token),
        created_at: now.replace_nanosecond(0).unwrap_or(now),
    };
    let event = management.event(now, EventKind::ClientRegistered, |event| {
        event.client = Some(client.id);
        let ClientAccess { rule, release } = &client.access;
        let opened = Some(client.resources.join(" ")).filter(|opened| !opened.is_empty());
        let release = Some(release).filter(|release| **release != Release::OfRule);
        event.details = Details::default()
            .text("origin", origin.name())
            .maybe_text("opened", opened)
            .maybe_text("rule", rule.as_ref())
            .maybe_text("release", release);
    });
    match management.register(RegisterClient { client: client.clone(), event }).await? {
        Some(Registered::Stored) => {
            tracing::info!(client.id = %client.id, origin = origin.name(), "client registered");
            Ok(RegisteredClient { client, secret, registration_token, left_out: judged.left_out })
        }
        Some(Registered::IdTaken) => Err(RegisterClientError::IdTaken),
        None => Err(RegisterClientError::MadeBefore),
    }
}

/// The scopes of resources that a client can register, if it registers any.
pub async fn declared_to(
    management: Management<'_>,
    requested: &RequestedMetadata,
    may_have: impl Fn(&Resource, &ScopeName) -> bool,
) -> Result<Catalog, StoreError> {
    if requested.names_own_scopes() {
        Ok(management.resources.catalog().await?.only(may_have))
    } else {
        Ok(Catalog::NONE)
    }
}

/// The resources of these scopes.
pub fn owners(declared: &Catalog, scope: &ScopeSet) -> Vec<String> {
    let owners = scope.own().iter().filter_map(|name| declared.owner(name.as_str()));
    let mut uris: Vec<String> = owners.map(|owner| owner.uri.clone()).collect();
    uris.sort();
    uris.dedup();
    uris
}

/// Judges the metadata of a new client, and fetches the list of its sector if it names one.
pub async fn judge_new(
    management: Management<'_>,
    requested: RequestedMetadata,
    rules: Rules<'_>,
) -> Result<JudgedMetadata, RegistrationRejected> {
    let judged = judge(management, requested, rules)?;
    judge_sector(management.fetcher, &judged.metadata).await?;
    Ok(judged)
}

/// Judges metadata. No address of the client may be one of ours, and the keys that it authenticates with must
/// be usable.
pub fn judge(
    management: Management<'_>,
    requested: RequestedMetadata,
    rules: Rules<'_>,
) -> Result<JudgedMetadata, RegistrationRejected> {
    let own_origin = management.policy.own_origin();
    let longest = rules.longest.map(|_| management.policy.lifetimes.longest);
    let judged = registration::judge(requested, Rules { own_origin: Some(own_origin), longest, ..rules })?;
    if judged.metadata.display.post_logout_redirect_uris.iter().any(|uri| own_origin.is_reached_by(uri)) {
        return Err(RegistrationRejected::Field {
            field: "post_logout_redirect_uris",
            rule: "must not be on this server's own origin, where no client lives",
        });
    }
    if judged.method == AuthenticationMethod::PrivateKeyJwt
        && let Some(jwks) = &judged.metadata.display.jwks
    {
        management.jws.check_keys(jwks).map_err(|rejected| {
            RegistrationRejected::Keys(match rejected {
                JwsRejected::Keys(rule) => rule,
                JwsRejected::TooLong => "too long",
                JwsRejected::Malformed
                | JwsRejected::Algorithm
                | JwsRejected::Header
                | JwsRejected::KeyUnknown
                | JwsRejected::Signature => "no keys that can be used",
            })
        })?;
    }
    Ok(judged)
}
