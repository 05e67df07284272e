//! What the descriptions of the endpoints share. Each endpoint has a `description.rs` beside it, with one
//! function for each handler, under the same name. `openapi` builds the document from them.

pub(crate) mod examples;
pub(crate) mod operation;
pub(crate) mod scheme;
