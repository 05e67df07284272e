//! Every rule of the specification and of the contract, as a table of answers; and the tables of vectors.

mod authorize;
mod bearer;
mod sheet;
mod table;
mod token;
