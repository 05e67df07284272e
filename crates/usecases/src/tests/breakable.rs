//! A store that fails when it is told to, that remembers its calls, and lets others act between two of them.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use countersign_conformance::memory::MemoryStorage;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::admission::{Block, Standing};
use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::declaration::Declaration;
use countersign_domain::desk::proposal::Proposal;
use countersign_domain::device::DeviceRequest;
use countersign_domain::email::UserEmail;
use countersign_domain::epoch::Epoch;
use countersign_domain::event::{Event, Pseudonym};
use countersign_domain::event_push::ReceiverId;
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::grant::Grant;
use countersign_domain::group::{GroupName, Membership};
use countersign_domain::id::{AdminKeyId, ClientId, EventId, GrantId, SessionId, TokenId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::pushed_request::PushedRequest;
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::resource::Resource;
use countersign_domain::secret::SecretHash;
use countersign_domain::signing_key::SealedKey;
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessEnded, Account, AccountStore, AddSigningKey, AdminKeyCreated, AdminKeyStore, AdvancePush,
    BeginDevice, BeginPush, BeginRequest, BlockPut, BlockStore, BlockedWallet, ChangeAccess, ChangeMember,
    ChangeResources, CheckpointAt, ClientStore, Clock, CompleteLogin, ConfirmEmail, ContinueSession,
    CountedGroup, CreateAdminKey, CreateGroup, CreateResource, DayCount, DeclarationStore, DeleteAccount,
    DeleteClient, DeleteGroup, DeleteResource, DenyDevice, DeskStore, DeviceBegun, DeviceDenied,
    DocumentsForgotten, EmailPut, EndAccess, EndProposal, EndSession, EndSessions, EpochStore, EventAt,
    EventFilter, EventPage, EventPush, EventPushStore, EventStore, FindUses, ForgetDeclarations,
    ForgetDocuments, ForgetEvents, ForgetUnused, FoundEvent, GroupCreated, GroupMember, GroupStore,
    IfClientUnchanged, IfGroupUnchanged, IfResourceUnchanged, IssueTokens, KeyAdded, KeyStore, KnownAccess,
    LinkWallet, LinkedWallet, LoginCompleted, LoginStore, MemberAdded, MemberCursor, NameWallet, OpenSession,
    PeopleFilter, PeopleStore, Person, PersonListed, ProposalPage, PurgeExpired, Purged, PutBlock,
    PutDeclarations, PutEmail, PutProposal, RaiseEpoch, RedeemCode, Redeemed, RegisterClient, Registered,
    RemoveBlock, RemoveSigningKey, ReplayStore, Replica, RequestBegun, RequestStore, ResourceCreated,
    ResourceStore, ResourceUpdated, ResourceUses, RetitleGroup, RevokeAdminKey, RevokeConsent, RevokeGrant,
    RevokeToken, Revoked, RotateRefresh, RotateSecret, Rotated, SealEvents, Sealed, SecretRecord, SecretUse,
    SessionClient, SessionContinued, SessionOpened, SessionStore, SignOut, SpendProof, StoreError, TakeLease,
    TakeProposal, TakePushedRequest, TokenStore, TokensIssued, UnlinkWallet, UpdateClient, UpdateResource,
    Upkeep, WalletLinked, WalletStore, WalletUnlinked, WithdrawSigningKey,
};
use time::{Date, OffsetDateTime};

use super::world::World;

/// Fails one call, after a number of calls that work.
#[derive(Default)]
pub(super) struct Breakable {
    inner: Arc<MemoryStorage>,
    calls_left: AtomicI64,
    calls: Mutex<Vec<&'static str>>,
    acts: Mutex<Vec<(usize, Act)>>,
    after_first: Mutex<Option<([&'static str; 2], Act)>>,
}

/// What somebody else does between two calls.
pub(super) type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Breakable {
    /// The calls since this was last asked.
    pub(super) fn asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// What is stored, for those whose calls do not count.
    pub(super) fn inner(&self) -> Arc<MemoryStorage> {
        Arc::clone(&self.inner)
    }

    /// Forgets the calls so far. From now on each act happens before the call with its number.
    pub(super) fn between(&self, acts: Vec<(usize, Act)>) {
        self.asked();
        *self.acts.lock().unwrap() = acts;
    }

    /// From now on the act happens right after the first of these calls.
    pub(super) fn after_first(&self, names: [&'static str; 2], act: Act) {
        *self.after_first.lock().unwrap() = Some((names, act));
    }

    /// Carries out what was not reached.
    pub(super) async fn rest(&self) {
        let mut acts = std::mem::take(&mut *self.acts.lock().unwrap());
        acts.sort_by_key(|(number, _)| *number);
        for (_, act) in acts {
            act.await;
        }
    }

    async fn call(&self, name: &'static str) -> Result<(), StoreError> {
        let number = self.calls.lock().unwrap().len();
        let mut due = Vec::new();
        self.acts.lock().unwrap().retain_mut(|(at, act)| {
            let is_due = *at == number;
            if is_due {
                due.push(std::mem::replace(act, Box::pin(std::future::ready(()))));
            }
            !is_due
        });
        for act in due {
            act.await;
        }
        self.calls.lock().unwrap().push(name);
        if self.calls_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(StoreError::Unavailable("the test pulled the plug".into()));
        }
        Ok(())
    }
}

impl Breakable {
    async fn called(&self, name: &'static str) {
        let due = self.after_first.lock().unwrap().take_if(|(names, _)| names.contains(&name));
        if let Some((_, act)) = due {
            act.await;
        }
    }
}

macro_rules! breakable {
    ($port:ident { $($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)* }) => {
        #[async_trait]
        impl $port for Breakable {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                self.call(stringify!($name)).await?;
                let answer = self.inner.$name($($argument),*).await;
                self.called(stringify!($name)).await;
                answer
            })*
        }
    };
}

breakable!(ClientStore {
    register_client(command: RegisterClient) -> Registered;
    update_client(command: UpdateClient) -> bool;
    change_resources(command: ChangeResources) -> bool;
    change_access(command: ChangeAccess) -> bool;
    rotate_secret(command: RotateSecret) -> bool;
    note_secret_uses(uses: Vec<SecretUse>) -> ();
    secrets_of(client: ClientId) -> Vec<SecretRecord>;
    delete_client(command: DeleteClient) -> bool;
    if_client_unchanged(command: IfClientUnchanged) -> bool;
    find_client(id: ClientId) -> Option<Client>;
    list_clients(after: Option<ClientId>, limit: u32) -> Vec<Client>;
});
breakable!(ResourceStore {
    create_resource(command: CreateResource) -> ResourceCreated;
    update_resource(command: UpdateResource) -> ResourceUpdated;
    delete_resource(command: DeleteResource) -> bool;
    if_resource_unchanged(command: IfResourceUnchanged) -> ResourceUpdated;
    list_resources() -> Vec<Resource>;
    find_uses(question: FindUses) -> ResourceUses;
});
breakable!(AdminKeyStore {
    create_admin_key(command: CreateAdminKey) -> AdminKeyCreated;
    revoke_admin_key(command: RevokeAdminKey) -> bool;
    note_admin_key_use(id: AdminKeyId, used_at: OffsetDateTime) -> ();
    find_admin_key(id: AdminKeyId) -> Option<AdminKey>;
    list_admin_keys() -> Vec<AdminKey>;
    begin_request(command: BeginRequest) -> RequestBegun;
});
breakable!(LoginStore { complete_login(command: CompleteLogin) -> LoginCompleted; });
breakable!(WalletStore {
    link_wallet(command: LinkWallet) -> WalletLinked;
    unlink_wallet(command: UnlinkWallet) -> WalletUnlinked;
    find_owner(wallet: WalletAccount) -> Option<UserId>;
    name_wallet(command: NameWallet) -> bool;
    wallets_of(user: UserId) -> Vec<LinkedWallet>;
});
breakable!(SessionStore {
    open_session(command: OpenSession) -> SessionOpened;
    find_session(id: SessionId) -> Option<LoginSession>;
    continue_session(command: ContinueSession) -> SessionContinued;
    sign_out(command: SignOut) -> bool;
    clients_of_sessions(user: UserId) -> Vec<SessionClient>;
    end_session(command: EndSession) -> bool;
    end_sessions(command: EndSessions) -> u64;
});
breakable!(AccountStore {
    consents_at(user: UserId, client: ClientId) -> Vec<Consent>;
    find_account(user: UserId) -> Option<Account>;
    revoke_consent(command: RevokeConsent) -> bool;
    find_email(user: UserId) -> Option<UserEmail>;
    put_email(command: PutEmail) -> EmailPut;
    confirm_email(command: ConfirmEmail) -> countersign_ports::EmailConfirmed;
    remove_email(user: UserId) -> bool;
    delete_account(command: DeleteAccount) -> bool;
});

#[async_trait]
impl GroupStore for Breakable {
    async fn create_group(&self, command: CreateGroup) -> Result<GroupCreated, StoreError> {
        self.call("create_group").await?;
        self.inner.create_group(command).await
    }

    async fn retitle_group(&self, command: RetitleGroup) -> Result<bool, StoreError> {
        self.call("retitle_group").await?;
        self.inner.retitle_group(command).await
    }

    async fn delete_group(&self, command: DeleteGroup) -> Result<bool, StoreError> {
        self.call("delete_group").await?;
        self.inner.delete_group(command).await
    }

    async fn if_group_unchanged(&self, command: IfGroupUnchanged) -> Result<bool, StoreError> {
        self.inner.if_group_unchanged(command).await
    }

    async fn find_group(&self, name: &GroupName) -> Result<Option<CountedGroup>, StoreError> {
        self.inner.find_group(name).await
    }

    async fn list_groups(
        &self,
        after: Option<&GroupName>,
        limit: u32,
    ) -> Result<Vec<CountedGroup>, StoreError> {
        self.inner.list_groups(after, limit).await
    }

    async fn add_member(&self, command: ChangeMember) -> Result<MemberAdded, StoreError> {
        self.call("add_member").await?;
        self.inner.add_member(command).await
    }

    async fn remove_member(&self, command: ChangeMember) -> Result<bool, StoreError> {
        self.call("remove_member").await?;
        self.inner.remove_member(command).await
    }

    async fn list_members(
        &self,
        group: &GroupName,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<GroupMember>, StoreError> {
        self.inner.list_members(group, after, limit).await
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        self.inner.memberships_of(user).await
    }

    async fn standing_of(&self, wallet: &WalletAccount) -> Result<Standing, StoreError> {
        self.call("standing_of").await?;
        self.inner.standing_of(wallet).await
    }

    async fn groups_of(&self, user: UserId) -> Result<Vec<GroupName>, StoreError> {
        self.call("groups_of").await?;
        self.inner.groups_of(user).await
    }
}

#[async_trait]
impl DeclarationStore for Breakable {
    async fn put_declarations(&self, command: PutDeclarations) -> Result<(), StoreError> {
        self.call("put_declarations").await?;
        self.inner.put_declarations(command).await
    }

    async fn forget_declarations(&self, command: ForgetDeclarations) -> Result<(), StoreError> {
        self.call("forget_declarations").await?;
        self.inner.forget_declarations(command).await
    }

    async fn list_declarations(&self) -> Result<Vec<Declaration>, StoreError> {
        self.inner.list_declarations().await
    }
}

#[async_trait]
impl BlockStore for Breakable {
    async fn put_block(&self, command: PutBlock) -> Result<BlockPut, StoreError> {
        self.inner.put_block(command).await
    }

    async fn remove_block(&self, command: RemoveBlock) -> Result<bool, StoreError> {
        self.inner.remove_block(command).await
    }

    async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError> {
        self.inner.end_access(command).await
    }

    async fn anything_blocked(&self) -> Result<bool, StoreError> {
        self.call("anything_blocked").await?;
        self.inner.anything_blocked().await
    }

    async fn block_of_user(&self, user: UserId) -> Result<Option<Block>, StoreError> {
        self.inner.block_of_user(user).await
    }

    async fn blocked_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError> {
        self.inner.blocked_wallets(after, limit).await
    }
}

#[async_trait]
impl PeopleStore for Breakable {
    async fn list_people(
        &self,
        filter: &PeopleFilter,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<PersonListed>, StoreError> {
        self.inner.list_people(filter, after, limit).await
    }

    async fn find_person(&self, user: UserId, now: OffsetDateTime) -> Result<Option<Person>, StoreError> {
        self.inner.find_person(user, now).await
    }
}

breakable!(ReplayStore { spend_proof(command: SpendProof) -> bool; });
breakable!(TokenStore {
    find_grant(id: GrantId) -> Option<Grant>;
    redeem_code(command: RedeemCode) -> Redeemed;
    issue_tokens(command: IssueTokens) -> TokensIssued;
    find_refresh(id: TokenId) -> Option<RefreshSnapshot>;
    rotate_refresh(command: RotateRefresh) -> Rotated;
    find_access(id: TokenId) -> Option<AccessSnapshot>;
    lives_on(access: KnownAccess) -> bool;
    revoke_token(command: RevokeToken) -> Revoked;
    revoke_grant(command: RevokeGrant) -> Revoked;
});

breakable!(RequestStore {
    push_request(request: PushedRequest) -> ();
    take_pushed_request(command: TakePushedRequest) -> Option<String>;
    begin_device(command: BeginDevice) -> DeviceBegun;
    find_device(id: GrantId) -> Option<DeviceRequest>;
    find_device_by_user_code(hash: SecretHash) -> Option<DeviceRequest>;
    deny_device(command: DenyDevice) -> DeviceDenied;
});

#[async_trait]
impl KeyStore for Breakable {
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError> {
        self.inner.add_signing_key(command).await
    }

    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError> {
        self.inner.withdraw_signing_key(command).await
    }

    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError> {
        self.inner.remove_signing_key(command).await
    }

    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError> {
        self.inner.signing_keys().await
    }
}

#[async_trait]
impl Upkeep for Breakable {
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError> {
        self.inner.purge_expired(command).await
    }

    async fn forget_unused(&self, command: ForgetUnused) -> Result<Purged, StoreError> {
        self.inner.forget_unused(command).await
    }

    async fn forget_documents(&self, command: ForgetDocuments) -> Result<DocumentsForgotten, StoreError> {
        self.inner.forget_documents(command).await
    }

    async fn time_witness(&self) -> Result<TimeWitness, StoreError> {
        self.inner.time_witness().await
    }

    async fn mark_time(&self, mark: TimeMark) -> Result<(), StoreError> {
        self.inner.mark_time(mark).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.inner.ping().await
    }
}

pub(super) fn world() -> (World, Arc<Breakable>) {
    let storage = Arc::new(Breakable { calls_left: AtomicI64::new(-1), ..Breakable::default() });
    (World::on(Arc::<Breakable>::clone(&storage)), storage)
}

/// Waits until no client is remembered, so that what follows asks the storage.
pub(super) async fn break_after(world: &World, storage: &Breakable, calls: i64) {
    world.clock.wait(Duration::from_secs(1)).await;
    storage.calls_left.store(calls, Ordering::SeqCst);
}

breakable!(EpochStore {
    epoch() -> Option<Epoch>;
    raise_epoch(command: RaiseEpoch) -> Epoch;
});

breakable!(EventPushStore {
    begin_push(command: BeginPush) -> bool;
    find_push(receiver: ReceiverId) -> Option<EventPush>;
    advance_push(command: AdvancePush) -> bool;
});

breakable!(EventStore {
    record_event(event: Event) -> bool;
    list_events(filter: &EventFilter, page: EventPage) -> Vec<Event>;
    find_event(id: EventId) -> Option<FoundEvent>;
    fresh_events(limit: u32) -> Vec<Event>;
    seal_events(command: SealEvents) -> Sealed;
    last_checkpoint() -> Option<SignedCheckpoint>;
    checkpoints(after: u64, limit: u32) -> Vec<CheckpointAt>;
    sealed_events(after: u64, limit: u32) -> Vec<EventAt>;
    count_events_of(pseudonym: Pseudonym) -> u64;
    forget_events(command: ForgetEvents) -> u64;
    take_lease(command: TakeLease) -> bool;
});

breakable!(DeskStore {
    put_proposal(command: PutProposal) -> bool;
    find_proposal(id: GrantId) -> Option<Proposal>;
    list_proposals(page: ProposalPage) -> Vec<Proposal>;
    take_proposal(command: TakeProposal) -> bool;
    end_proposal(command: EndProposal) -> bool;
    forget_proposals(before: OffsetDateTime, limit: u32) -> u64;
    events_of_request(request: &str, limit: u32) -> Vec<Event>;
    day_counts(since: Date) -> Vec<DayCount>;
    count_sessions(now: OffsetDateTime, at_most: u32) -> u32;
    note_replica(replica: Replica, forget_before: OffsetDateTime) -> ();
    forget_replica(id: [u8; 16]) -> ();
    replicas(since: OffsetDateTime) -> Vec<Replica>;
});
