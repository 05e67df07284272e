//! What a person has: wallets, an e-mail address, consents, sessions.

pub mod confirm_email;
pub mod delete_account;
pub mod end_session;
pub mod link_wallet;
pub mod name_wallet;
pub mod put_email;
pub mod read_account;
pub mod remove_email;
pub mod revoke_consent;
pub mod sign_out;
pub mod unlink_wallet;
pub mod wallets;
