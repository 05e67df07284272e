//! What every command prints with: tables, and texts for a terminal.

pub(crate) mod table;
pub(crate) mod terminal;
