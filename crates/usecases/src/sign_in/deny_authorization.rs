//! A person presses Deny: the client or the device that asked gets the answer.

use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_ports::StoreError;

use crate::Context;
use crate::sign_in::deny_device::deny_device;
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;

/// Makes the answer that denies a client's request, or denies a device. From the account page, the person
/// goes to the home page.
pub async fn deny_authorization(
    context: &Context,
    pending: &PendingAuthorization,
) -> Result<ClientAnswer, StoreError> {
    match &pending.requester {
        Requester::Client(request) => {
            let error = OAuthError::new(OAuthErrorCode::AccessDenied, "the person denied the request");
            Ok(answer::with_error(&context.policy, request, &error))
        }
        Requester::AccountPage { .. } => {
            Ok(ClientAnswer::page(RedirectUri::from_trusted(context.policy.public_url.join("/"))))
        }
        Requester::Device(device) => deny_device(context, device.id).await,
    }
}
