//! A device asks whether a person signed for it, and redeems the grant once they did (RFC 8628 section 3.4).

use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::code::{CodeRejected, PresentedCode};
use countersign_domain::device::DeviceRejected;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::GrantId;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;

use crate::clients::authenticate_client::authenticate_client;
use crate::context::cause::Cause;
use crate::steps::admit::kept_out_since;
use crate::tokens::exchange_code::{ExchangeCodeError, Wishes, redeem_presented, rejected};
use crate::{AuthenticateClientError, Context, TokenAnswer};

/// What the device sends.
#[derive(Clone, Debug)]
pub struct ExchangeDeviceCode {
    /// Which client it runs.
    pub credentials: ClientCredentials,
    /// Its code.
    pub device_code: Secret,
    /// The resources that the access token is for, if fewer than were granted.
    pub resources: Vec<String>,
    /// A DPoP proof of the key that the tokens are bound to.
    pub proof: Option<String>,
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeDeviceCodeError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type.
    #[error("client may not use device codes")]
    GrantTypeNotAllowed,
    /// The code is not valid, or no one has answered yet.
    #[error("device code is refused")]
    Rejected(#[from] DeviceRejected),
    /// The grant that answers the device cannot be redeemed.
    #[error(transparent)]
    Grant(#[from] ExchangeCodeError),
    /// The request could not be read.
    #[error("device request could not be read")]
    Store(#[from] StoreError),
}

/// Redeems the grant of a device like any other, once it exists. The cause is asked for only if the code was
/// used before.
pub async fn exchange_device_code(
    context: &Context,
    cause: impl Fn() -> Cause,
    exchange: ExchangeDeviceCode,
) -> Result<TokenAnswer, ExchangeDeviceCodeError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &exchange.credentials).await?;
    if !client.may_use(GrantType::DeviceCode) {
        return Err(ExchangeDeviceCodeError::GrantTypeNotAllowed);
    }
    let id = exchange.device_code.id().map(GrantId::from_uuid).ok_or(DeviceRejected::Unknown)?;
    let device = context.storage.find_device(id).await?.ok_or(DeviceRejected::Unknown)?;
    device.admit(&exchange.device_code, client.id)?;
    let Some(grant) = context.storage.find_grant(id).await? else {
        return Err(device.unanswered(now).into());
    };
    let presented = PresentedCode {
        code: &exchange.device_code,
        client: client.id,
        redirect_uri: grant.redirect_uri.as_ref().map(RedirectUri::as_str),
        verifier: None,
    };
    // The device may ask while the login that answers it finds out that the user was just blocked, and before
    // the login takes its grant back. No one else has a code that early.
    if let Some(account) = grant.holder.account()
        && kept_out_since(context, account).await?.is_some()
    {
        return Err(rejected(context, &client, &presented, CodeRejected::NotAdmitted).into());
    }
    let wishes = Wishes { resources: exchange.resources, proof: exchange.proof };
    Ok(redeem_presented(context, cause, (now, &client, &grant), &presented, wishes).await?)
}
