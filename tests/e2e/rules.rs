//! Every rule for responses as a table, and the tables of test vectors.

mod authorize;
mod bearer;
mod sheet;
mod table;
mod token;
