//! What every command prints with: tables, texts for a terminal, and words for what libraries say.

pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod words;
