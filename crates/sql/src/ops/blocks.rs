//! Users and wallets are kept out.

pub mod end_access;
pub mod put_block;
pub mod read_blocks;
pub mod remove_block;
