//! What operators see of people, and the groups that people are in.

pub(crate) mod read_holdings;
