//! What people see and change of what is theirs.

mod linking_wallets;
mod page;
