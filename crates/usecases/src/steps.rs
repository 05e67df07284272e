//! Steps that use-cases share. Nobody asks for one by itself.

pub mod admit;
pub mod answer;
pub mod file_email;
pub mod login;
pub mod notify_logout;
pub mod recognize_account;

pub(crate) mod choose_resources;
pub(crate) mod end_grant;
pub(crate) mod hints;
pub(crate) mod mint_tokens;
pub(crate) mod name_wallet;
pub(crate) mod new_grant;
pub(crate) mod prove_key;
pub(crate) mod released_claims;
pub(crate) mod token_access;
