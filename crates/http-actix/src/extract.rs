//! Reading requests: bodies with limits, forms and JSON whose errors name the field, credentials.

pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod client_credentials;
