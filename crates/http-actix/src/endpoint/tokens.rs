//! The endpoints that issue tokens, accept them, look into them and revoke them.

pub(crate) mod introspect;
pub(crate) mod revoke;
pub(crate) mod token;
pub(crate) mod userinfo;
