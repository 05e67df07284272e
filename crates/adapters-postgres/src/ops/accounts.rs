//! What a person has: wallets, an e-mail address, consents, sessions.

pub(crate) mod read_account;
