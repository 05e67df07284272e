//! Grants become tokens, and tokens are found, replaced and revoked.

pub(crate) mod issue_tokens;
pub(crate) mod place;
pub(crate) mod read;
pub(crate) mod redeem_code;
pub(crate) mod revoke;
pub(crate) mod rotate_refresh;
pub(crate) mod store_token;
