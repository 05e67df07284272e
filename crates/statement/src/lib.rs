//! What is worked out about SQL when the program is compiled: the text of a statement is taken apart at the names of its
//! values, the migrations are embedded with their text, and what they make is read from that.
//!
//! This crate knows no database, so build scripts can use it.

pub mod made;
pub mod scripts;
mod text;

pub use text::{Own, Piece, Row, index_of, is_used, parse};
