//! What is exchanged for tokens, and what tokens are asked for afterwards.

pub(crate) mod introspect;
pub(crate) mod revoke;
pub(crate) mod token;
pub(crate) mod userinfo;
