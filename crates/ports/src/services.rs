//! What is not storage: the clock, randomness, wallets, keys, mail, documents of others, and what the server counts.

pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod fetcher;
pub(crate) mod figures;
pub(crate) mod jws_reader;
pub(crate) mod key_ring;
pub(crate) mod mailer;
pub(crate) mod token_signer;
pub(crate) mod wallet_verifier;
