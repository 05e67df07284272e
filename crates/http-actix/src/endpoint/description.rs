//! What the descriptions of the endpoints share. Each endpoint has its own in `description.rs` beside it, with a function for
//! each of its handlers and by the same name; `openapi` makes the document of them.

pub(crate) mod examples;
pub(crate) mod operation;
pub(crate) mod scheme;
