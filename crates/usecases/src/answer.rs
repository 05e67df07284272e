//! The answer that goes back to the client through the browser (RFC 6749 section 4.1.2, RFC 9207).

use countersign_domain::error::OAuthError;
use countersign_domain::redirect_uri::RedirectUri;

use crate::Policy;

/// The redirect of a sign-in that worked: exactly `code`, `state` and `iss`.
pub(crate) fn with_code(policy: &Policy, to: &RedirectUri, state: Option<&str>, code: &str) -> String {
    redirect(policy, to, state, &[("code", code)])
}

/// The redirect of one that did not.
pub(crate) fn with_error(
    policy: &Policy,
    to: &RedirectUri,
    state: Option<&str>,
    error: &OAuthError,
) -> String {
    redirect(policy, to, state, &[("error", error.code.name()), ("error_description", &error.description)])
}

fn redirect(policy: &Policy, to: &RedirectUri, state: Option<&str>, answer: &[(&str, &str)]) -> String {
    let state = state.map(|state| ("state", state));
    let issuer = ("iss", policy.public_url.as_str());
    let answer: Vec<_> = answer.iter().copied().chain(state).chain([issuer]).collect();
    to.with_answer(&answer)
}
