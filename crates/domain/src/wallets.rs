//! Wallets: an account on a chain, its name, its picture, and the links that open it.

pub mod identicon;
pub mod wallet;
pub mod wallet_link;
pub mod wallet_name;
