//! A person presses Deny: the client is told.

use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::pending::PendingAuthorization;

use crate::{Context, answer};

/// Makes the redirect that says no. Whoever does not want to see their account goes to the home page.
pub fn deny_authorization(context: &Context, pending: &PendingAuthorization) -> String {
    if pending.is_for_account() {
        return context.policy.public_url.join("/");
    }
    let error = OAuthError::new(OAuthErrorCode::AccessDenied, "the person denied the request");
    answer::with_error(&context.policy, &pending.redirect_uri, pending.state.as_deref(), &error)
}
