//! Scopes, and the resources that the operator declared with scopes of their own.

pub(crate) mod catalog;
pub(crate) mod named_scopes;
pub mod scope;
