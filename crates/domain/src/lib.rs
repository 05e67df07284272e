//! Values, entities and decisions of OAuth and of wallet login.
//!
//! Everything here is pure: no I/O, no clock, no randomness, no async. A function that needs the time takes
//! `now`; a function that needs chance takes the random bytes.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | client | an application that registered with us |
//! | pending authorization | a judged request that waits for its signature; it lives in the session cookie |
//! | challenge | the text that a wallet is asked to sign for one pending authorization |
//! | grant | what one signature allowed: one user, one client, one set of scopes. Its id is the challenge's id |
//! | code | the secret that redeems a grant, once |
//! | pushed request | an authorization request that the client sent ahead, to name it by a short text |
//! | device request | a device's request to be signed in elsewhere; the grant that answers it has its id |
//! | token | one answer of the token endpoint: an access token and, mostly, a refresh token |
//! | login session | a sign-in that one browser remembers: who signed, and when |
//! | resource | what an access token can be for besides this server, declared by the operator |
//! | audience | whom one access token is for: among what was signed |
//! | consent | what a user signed for at a client: where it leads, for whom tokens are, and the scopes; a login session repeats it |
//! | family | the tokens of one grant; at most one of them can be refreshed |

pub mod audience;
pub mod authorization;
pub mod challenge;
pub mod claims;
pub mod client;
pub mod client_assertion;
pub mod client_auth;
pub mod client_document;
pub mod code;
pub mod consent;
pub mod device;
pub mod dpop;
pub mod email;
pub mod error;
pub mod forgetting;
pub mod form_key;
pub mod grant;
pub mod grant_type;
mod host;
pub mod id;
pub mod id_token;
pub mod identicon;
pub mod key_thumbprint;
pub mod lifetimes;
pub mod login_session;
pub mod own_origin;
pub mod parameters;
pub mod particulars;
pub mod pending;
pub mod picture;
pub mod pkce;
pub mod public_url;
pub mod pushed_request;
pub mod readable;
pub mod redirect_uri;
pub mod refresh;
pub mod registration;
pub mod resource;
pub mod response_mode;
pub mod scope;
pub mod secret;
pub mod signing_algorithm;
pub mod signing_key;
pub mod token;
pub mod user_info;
pub mod wallet;
pub mod wallet_change;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;
