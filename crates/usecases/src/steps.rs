//! Steps that use-cases share. None is called by itself.

pub mod accept_invitation;
pub(crate) mod access_ends;
pub mod admit;
pub mod answer;
pub mod file_email;
pub mod login;
pub mod notify_logout;
pub mod recognize_account;
pub mod recognize_operator;

pub(crate) mod choose_resources;
pub(crate) mod end_grant;
pub mod hide_person;
pub(crate) mod hints;
pub(crate) mod mint_tokens;
pub(crate) mod name_wallet;
pub(crate) mod new_grant;
pub(crate) mod prove_key;
pub(crate) mod released_claims;
pub(crate) mod token_access;
