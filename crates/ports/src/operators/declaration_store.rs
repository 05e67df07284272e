//! What files declared.

use countersign_domain::declaration::{Declaration, DeclaredThing};

/// Remembers that files declared things.
#[derive(Clone, Debug)]
pub struct PutDeclarations {
    /// The things, each once.
    pub declarations: Vec<Declaration>,
}

/// Forgets that files declared things.
#[derive(Clone, Debug)]
pub struct ForgetDeclarations {
    /// The things.
    pub things: Vec<DeclaredThing>,
}
