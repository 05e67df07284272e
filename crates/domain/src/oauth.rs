//! The words of OAuth and OpenID Connect: parameters, errors, grant types, PKCE, DPoP, algorithms.

pub mod claims;
pub mod dpop;
pub mod error;
pub mod grant_type;
pub mod key_thumbprint;
pub mod parameters;
pub mod pkce;
pub mod refusal;
pub mod response_mode;
pub mod signing_algorithm;
pub mod signing_key;
