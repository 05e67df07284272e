//! Values, entities and decisions of OAuth and of wallet sign-in.
//!
//! Everything here is pure: no I/O, no clock, no randomness, no async. A function that needs the time takes
//! `now`, and a function that needs randomness takes random bytes.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | client | an application that registered with us |
//! | pending authorization | a checked request that waits for its signature; it lives in the session cookie |
//! | challenge | the text that a wallet is asked to sign for one pending authorization |
//! | grant | what one signature allowed: one user, one client, one set of scopes; shares the challenge's id |
//! | code | the secret that redeems a grant, once |
//! | pushed request | an authorization request that the client sent ahead and then names by a reference |
//! | device request | the request of a device that waits for a sign-in elsewhere; shares its grant's id |
//! | token | one answer of the token endpoint: an access token and usually a refresh token |
//! | login session | a sign-in that a browser remembers: who signed, and when |
//! | resource | a server besides this one that access tokens can be for; the operator declares it, with its scopes |
//! | audience | the servers that one access token is for, from those that were signed for |
//! | consent | what a user signed for at a client: destination, audiences, scopes; a session repeats it |
//! | group | users and wallets that an operator put together; clients are told the names that are released |
//! | access rule | who can sign in to a client: everyone, nobody, or members of groups |
//! | block | keeps a user or a wallet out of all clients |
//! | admin key | what a program presents at the admin interface; it acts for the operator |
//! | event | what happened: stored in the commit of the act that it tells of |
//! | checkpoint | a signed seal over events, chained to the one before |
//! | archive | everything that a database holds, as tables of rows that every database understands; a backup is one in a file |
//! | family | the tokens of one grant; at most one of them can be refreshed |

pub mod admin_key;
pub mod admission;
pub mod archive;
pub mod audience;
pub mod authorization;
pub mod challenge;
pub mod checkpoint;
pub mod claims;
pub mod client;
pub mod client_assertion;
pub mod client_auth;
pub mod client_document;
pub mod client_secrets;
pub mod code;
pub mod consent;
pub mod contact;
pub mod declaration;
pub mod desk;
pub mod device;
pub mod dpop;
pub mod email;
pub mod epoch;
pub mod error;
pub mod event;
pub mod event_push;
pub mod forgetting;
pub mod form_key;
pub mod grant;
pub mod grant_type;
pub mod group;
mod host;
pub mod id;
pub mod id_token;
pub mod identicon;
pub mod key_thumbprint;
pub mod lifetimes;
pub mod listener;
pub mod login_session;
pub mod look_alike;
pub mod own_origin;
pub mod parameters;
pub mod particulars;
pub mod peer_address;
pub mod pending;
pub mod picture;
pub mod pkce;
pub mod public_url;
pub mod pushed_request;
pub mod readable;
pub mod redirect_uri;
pub mod refresh;
pub mod refusal;
pub mod registration;
pub mod repeat_key;
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
pub mod wallet_link;
pub mod wallet_name;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;
