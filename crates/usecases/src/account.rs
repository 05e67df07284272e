//! What people see and change of what is theirs.

pub mod begin_wallet_change;
pub mod change_email;
pub mod change_wallets;
pub mod confirm_email;
pub mod delete_account;
pub mod end_sessions;
pub mod read_account;
pub mod read_events;
pub mod rename_wallet;
pub mod revoke_consent;
