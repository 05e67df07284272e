//! What files declared.

use async_trait::async_trait;
use countersign_domain::declaration::Declaration;
use countersign_ports::{DeclarationStore, ForgetDeclarations, PutDeclarations, StoreError};

use super::MemoryStorage;

#[async_trait]
impl DeclarationStore for MemoryStorage {
    async fn put_declarations(&self, command: PutDeclarations) -> Result<(), StoreError> {
        let declarations = command.declarations.into_iter();
        self.tables().declarations.extend(declarations.map(|declared| (declared.thing.clone(), declared)));
        Ok(())
    }

    async fn forget_declarations(&self, command: ForgetDeclarations) -> Result<(), StoreError> {
        self.tables().declarations.retain(|thing, _| !command.things.contains(thing));
        Ok(())
    }

    async fn list_declarations(&self) -> Result<Vec<Declaration>, StoreError> {
        Ok(self.tables().declarations.values().cloned().collect())
    }
}
