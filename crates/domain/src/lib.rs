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
//! | sector | the clients that know a person by the same `sub`: those of one host, or one client alone |
//! | group | users and wallets that an operator put together; clients get the names that are released |
//! | invitation | a link that puts the wallets of people who sign into a group |
//! | access rule | who can sign in to a client: everyone, nobody, or members of groups |
//! | block | keeps a user or a wallet out of all clients |
//! | admin key | what a program presents at the admin interface; it acts for the operator |
//! | event | what happened: stored in the commit of its act |
//! | checkpoint | a signed seal over events, chained to the one before |
//! | archive | everything that a database holds, as tables of rows that every database understands; a backup is one in a file |
//! | family | the tokens of one grant; at most one of them can be refreshed |

mod addresses;
mod clients;
mod events;
mod oauth;
mod operators;
mod people;
mod scopes;
mod sign_in;
mod storage;
mod tokens;
mod values;
mod wallets;

pub use addresses::{own_origin, peer_address, public_url};
pub use clients::{
    client, client_assertion, client_auth, client_change, client_document, client_field, client_secrets,
    client_view, contact, redirect_uri, registration, sector,
};
pub use events::{checkpoint, event, event_push, subject};
pub use oauth::{
    claims, dpop, error, grant_type, key_thumbprint, parameters, pkce, refusal, response_mode,
    signing_algorithm, signing_key,
};
pub use operators::{act, admin_key, declaration, desk, figure};
pub use people::{admission, email, group, invitation, person_name, picture};
pub use scopes::scope;
pub use sign_in::{
    authorization, challenge, consent, device, form_key, login_session, pending, pushed_request,
    wallet_change,
};
pub use storage::{archive, epoch, forgetting};
pub use tokens::{
    audience, code, grant, id_token, pairwise, particulars, refresh, resource, token, user_info,
};
pub use values::{hour, id, lifetimes, listener, look_alike, number, readable, repeat_key, secret};
pub use wallets::{identicon, wallet, wallet_link, wallet_name};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;
