//! A device asks for a sign-in that happens elsewhere (RFC 8628): one insert.

use countersign_domain::authorization;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::device::{self, DeviceRequest, UserCode};
use countersign_domain::error::OAuthError;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::GrantId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{BeginDevice, DeviceBegun, EntropyExt, StoreError};

use crate::clients::authenticate_client::authenticate_client;
use crate::steps::choose_resources::{ResourcesRejected, choose_resources};
use crate::{AuthenticateClientError, Context};

/// How many codes are tried until one is free. With a million devices waiting, one in 25,000 is taken.
const DRAWS: u8 = 4;

/// What the device sends.
#[derive(Clone, Debug)]
pub struct DeviceAsks {
    /// Which client it runs.
    pub credentials: ClientCredentials,
    /// The scopes; if none are named, all that the client registered.
    pub scope: Option<String>,
    /// The resources that access tokens are for.
    pub resources: Vec<String>,
}

/// The codes for a device.
#[derive(Clone, Debug)]
pub struct DeviceWaits {
    /// What it sends to the token endpoint.
    pub device_code: Secret,
    /// What it shows to the person.
    pub user_code: UserCode,
    /// How many seconds both are valid.
    pub expires_in: i64,
}

/// Why the device gets no codes.
#[derive(Debug, thiserror::Error)]
pub enum BeginDeviceError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type.
    #[error("client may not use device codes")]
    GrantTypeNotAllowed,
    /// Scope or resources are refused.
    #[error("device request is refused")]
    Refused(#[from] OAuthError),
    /// Every code that was tried belongs to another device.
    #[error("no user code is free")]
    Crowded,
    /// The request could not be stored.
    #[error("device request could not be stored")]
    Store(#[from] StoreError),
}

/// Makes a device wait until a person types its code.
pub async fn begin_device(context: &Context, asks: DeviceAsks) -> Result<DeviceWaits, BeginDeviceError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &asks.credentials).await?;
    if !client.may_use(GrantType::DeviceCode) {
        return Err(BeginDeviceError::GrantTypeNotAllowed);
    }
    let chosen = choose_resources(context, &client, asks.scope.as_deref(), &asks.resources).await;
    let (scope, resources) = chosen.map_err(|rejected| match rejected {
        ResourcesRejected::Refused(error) => BeginDeviceError::Refused(error),
        ResourcesRejected::Store(error) => error.into(),
    })?;
    let id = GrantId::at(now, context.entropy.bytes());
    let device_code = Secret::with_id(id.as_uuid(), context.entropy.bytes());
    let expires_at = now + device::LIFETIME;
    for _ in 0..DRAWS {
        let user_code = UserCode::from_random(context.entropy.bytes());
        let request = DeviceRequest {
            id,
            client: client.id,
            user_code_hash: user_code.hash(),
            code_hash: SecretHash::of(&device_code),
            scope: scope.clone(),
            resources: resources.clone(),
            expires_at,
            denied: false,
        };
        let waits =
            PendingAuthorization::for_device(&request, user_code, &client, &context.policy.public_url);
        authorization::judge_text(&waits, &context.policy.resources)?;
        let command = BeginDevice { request, forget_after: expires_at + device::REMEMBERED };
        if context.storage.begin_device(command).await? == DeviceBegun::Stored {
            let expires_in = device::LIFETIME.whole_seconds();
            return Ok(DeviceWaits { device_code, user_code, expires_in });
        }
    }
    Err(BeginDeviceError::Crowded)
}
