//! What files declared.

use async_trait::async_trait;
use countersign_domain::declaration::{Declaration, DeclaredThing};

use crate::StoreError;

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

/// What files declared. Nothing here says that a thing exists: whoever deletes it need not know of its file.
#[async_trait]
pub trait DeclarationStore: Send + Sync {
    /// Remembers all of these, in one commit. Of a thing that is remembered already, the new source and time
    /// take the place of the old. Idempotent. Durable before the answer.
    async fn put_declarations(&self, command: PutDeclarations) -> Result<(), StoreError>;

    /// Forgets all of these, in one commit. Idempotent. Durable before the answer.
    async fn forget_declarations(&self, command: ForgetDeclarations) -> Result<(), StoreError>;

    /// Reads all declarations from one snapshot, by the word for the kind and then by key, in byte order.
    async fn list_declarations(&self) -> Result<Vec<Declaration>, StoreError>;
}
