//! A person presses Deny: the client is told.

use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::redirect_uri::RedirectUri;

use crate::Context;
use crate::steps::answer;
use crate::steps::answer::ClientAnswer;

/// Makes the answer that says no. Whoever does not want to see their account goes to the home page.
pub fn deny_authorization(context: &Context, pending: &PendingAuthorization) -> ClientAnswer {
    if pending.is_for_account() {
        return ClientAnswer::page(RedirectUri::from_trusted(context.policy.public_url.join("/")));
    }
    let error = OAuthError::new(OAuthErrorCode::AccessDenied, "the person denied the request");
    answer::with_error(&context.policy, pending, &error)
}
