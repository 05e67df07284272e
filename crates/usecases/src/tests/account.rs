//! What people see and change in their account.

mod linking_wallets;
mod naming_wallets;
mod page;
mod reading_events;
