//! Shared step: what access tokens shall be for.

use countersign_domain::error::OAuthError;
use countersign_domain::resource;

use crate::Context;

/// The resources that a request names, as far as they were granted; any of the server's where `granted` names none.
pub(crate) fn choose_resources(
    context: &Context,
    requested: &[String],
    granted: &[String],
) -> Result<Vec<String>, OAuthError> {
    let requested = requested.iter().map(String::as_str);
    let requested = resource::judge(requested, context.policy.resources.as_deref())?;
    resource::narrow(requested, granted)
}
