//! One file for each endpoint: what it reads, what it answers, and the handler between. The folders are those
//! of the use-cases, with three more: `site` has what belongs to no subject, `steps` what several handlers
//! need, and `description` what the descriptions of endpoints share.

pub mod account;
pub(crate) mod clients;
pub(crate) mod description;
pub mod sign_in;
pub mod site;
pub mod steps;
pub(crate) mod tokens;
