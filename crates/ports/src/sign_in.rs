//! Storage of signing in: requests that wait, sign-ins, remembered sign-ins, codes and tokens, and proofs that are good once.

pub(crate) mod login_store;
pub(crate) mod replay_store;
pub(crate) mod request_store;
pub(crate) mod session_store;
pub(crate) mod token_store;
