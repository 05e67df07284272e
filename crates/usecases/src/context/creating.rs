//! What a program can ask for with an idempotency key is created here: once for each request, or as often as it is
//! asked without one.

use countersign_ports::{
    CreateGroup, CreateInvitation, CreateOnce, CreateResource, CreatedOnce, Creation, GroupCreated,
    InvitationCreated, RegisterClient, Registered, ResourceCreated, StoreError,
};

use crate::Management;

/// Why a repeat is refused.
pub const MADE_BEFORE: &str = "this idempotency key made it before, and it was changed or deleted since: use another \
     key to make it again";

impl Management<'_> {
    /// Stores a new client. `None` if the request made one before that is not there any more.
    pub(crate) async fn register(&self, command: RegisterClient) -> Result<Option<Registered>, StoreError> {
        if self.once.is_none() {
            return self.clients.register(command).await.map(Some);
        }
        let CreatedOnce::Client(registered) = self.create_once(Creation::Client(Box::new(command))).await?
        else {
            return Ok(None);
        };
        Ok(Some(registered))
    }

    /// Stores a new group. `None` if the request made one before that is not there any more.
    pub async fn create_group(&self, command: CreateGroup) -> Result<Option<GroupCreated>, StoreError> {
        if self.once.is_none() {
            return self.storage.create_group(command).await.map(Some);
        }
        let CreatedOnce::Group(created) = self.create_once(Creation::Group(command)).await? else {
            return Ok(None);
        };
        Ok(Some(created))
    }

    /// Stores a new invitation. `None` if the request made one before that is not there any more.
    pub async fn create_invitation(
        &self,
        command: CreateInvitation,
    ) -> Result<Option<InvitationCreated>, StoreError> {
        if self.once.is_none() {
            return self.storage.create_invitation(command).await.map(Some);
        }
        let CreatedOnce::Invitation(created) = self.create_once(Creation::Invitation(command)).await? else {
            return Ok(None);
        };
        Ok(Some(created))
    }

    /// Stores a new resource, and waits until every replica knows it. `None` if the request made one before that is
    /// not there any more, or was changed.
    pub(crate) async fn create_resource(
        &self,
        command: CreateResource,
    ) -> Result<Option<ResourceCreated>, StoreError> {
        if self.once.is_none() {
            return self.resources.create(command).await.map(Some);
        }
        let created = self.create_once(Creation::Resource(command)).await;
        self.resources.wait_until_forgotten().await;
        let CreatedOnce::Resource(created) = created? else { return Ok(None) };
        Ok(Some(created))
    }

    async fn create_once(&self, creation: Creation) -> Result<CreatedOnce, StoreError> {
        let Some(request) = self.once else { return Ok(CreatedOnce::MadeBefore) };
        let now = self.clock.now();
        self.storage.create_once(CreateOnce { request, now, creation }).await
    }
}
